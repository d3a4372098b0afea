"""The node type `trigger.webhook`."""
