"""The node type `flow.stop`."""
