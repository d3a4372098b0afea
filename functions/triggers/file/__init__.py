"""A file was stored: what waits for it starts."""
