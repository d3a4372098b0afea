"""Ends runs whose execution has ended."""
