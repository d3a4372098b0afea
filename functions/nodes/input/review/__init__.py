"""The node type `input.review`."""
