"""Sends what people are to be told at once."""
