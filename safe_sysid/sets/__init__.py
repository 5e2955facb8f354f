"""What is certain: arithmetic that never loses a possible value."""
