"""Tells a loop that one of its chunks is done."""
