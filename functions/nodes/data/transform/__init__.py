"""The node type `data.transform`."""
