"""The node type `input.upload`."""
