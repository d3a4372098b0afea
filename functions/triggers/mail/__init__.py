"""Lambda: what is new in mailboxes."""
