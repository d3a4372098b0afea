"""Puts a person's confirmed address and name into access tokens."""
