"""Nodes that compute on values."""
