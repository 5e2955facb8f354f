"""Whether what the arm holds has changed: a test with a stated rate, and a proof."""
