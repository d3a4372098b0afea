"""The node type `flow.for_each`."""
