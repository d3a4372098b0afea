"""The node type `input.approval`."""
