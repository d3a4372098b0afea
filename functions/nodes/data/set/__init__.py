"""The node type `data.set`."""
