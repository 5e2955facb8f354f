"""What an arm is: dynamics that are linear in its parameters."""
