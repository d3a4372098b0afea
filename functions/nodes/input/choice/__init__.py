"""The node type `input.choice`."""
