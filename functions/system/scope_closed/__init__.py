"""Closes a scope that ended with an error."""
