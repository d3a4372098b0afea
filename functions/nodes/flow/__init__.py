"""Nodes that decide what runs, how often and when."""
