"""The node type `flow.wait`."""
