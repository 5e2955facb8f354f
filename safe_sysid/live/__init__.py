"""A run of the loop in a browser, while it goes on."""
