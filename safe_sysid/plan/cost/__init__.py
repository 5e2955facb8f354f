"""What a motion is good for: costs with exact gradients."""
