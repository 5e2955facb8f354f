"""What tells that a node, its clock or its input is not as it should be."""
