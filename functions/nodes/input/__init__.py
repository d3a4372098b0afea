"""Nodes that ask people."""
