"""`safe-sysid doctor`: checks of this machine and of the files of an arm, with remedies."""
