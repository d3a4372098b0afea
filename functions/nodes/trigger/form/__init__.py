"""Node type trigger.form."""
