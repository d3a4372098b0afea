"""The node type `data.aggregate`."""
