"""The local cloud is killed again and again while it works."""
