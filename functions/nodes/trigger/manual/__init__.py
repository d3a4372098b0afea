"""The node type `trigger.manual`."""
