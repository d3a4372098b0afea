"""The node type `data.template`."""
