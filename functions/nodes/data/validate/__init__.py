"""The node type `data.validate`."""
