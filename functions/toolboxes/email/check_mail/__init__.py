"""Action: wait for a mail."""
