"""The node type `flow.switch`."""
