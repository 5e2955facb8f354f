"""Starts the processes of the loop, keeps them alive and ends them."""
