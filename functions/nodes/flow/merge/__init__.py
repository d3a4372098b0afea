"""The node type `flow.merge`."""
