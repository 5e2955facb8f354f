"""A campaign of closed loops that looks for a promise that is not kept."""
