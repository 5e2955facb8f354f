"""The search for the best certified plan within a time budget."""
