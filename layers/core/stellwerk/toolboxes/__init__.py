"""Toolboxes: connections to services, their secrets, and the doors through which they are used."""
