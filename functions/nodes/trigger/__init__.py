"""Nodes that runs start at."""
