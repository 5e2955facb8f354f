"""The `safe-sysid` command: one file for each subcommand."""
