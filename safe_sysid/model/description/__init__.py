"""A robot description becomes what an arm needs: its chain, its surfaces, its doubtful figures."""
