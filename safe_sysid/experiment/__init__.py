"""Experiments of the papers as campaigns of trials: ours beside theirs."""
