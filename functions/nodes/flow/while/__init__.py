"""The node type `flow.while`."""
