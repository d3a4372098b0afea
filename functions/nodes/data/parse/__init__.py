"""The node type `data.parse`."""
