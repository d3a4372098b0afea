"""The node type `data.filter`."""
