"""Node type trigger.file."""
