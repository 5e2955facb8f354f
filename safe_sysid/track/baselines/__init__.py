"""Controllers of the literature, to compare the robust one with."""
