"""Node type trigger.event."""
