"""Node type trigger.failure."""
