"""What can be asked of the loop with an account of how it goes, and be taken back."""
