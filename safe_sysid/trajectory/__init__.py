"""Where an arm may go: curves in time with a parameter that a planner chooses."""
