"""`safe-sysid demo`: learn what an arm holds, then do a task with it."""
