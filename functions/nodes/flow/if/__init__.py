"""The node type `flow.if`."""
