"""Table III of "Provably-Safe, Online System Identification": stacking unknown dumbbells."""
