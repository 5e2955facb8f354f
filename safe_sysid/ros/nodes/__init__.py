"""The nodes of the loop."""
