"""The node type `data.store`."""
