"""The node type `trigger.called`."""
