"""The node type `trigger.schedule`."""
