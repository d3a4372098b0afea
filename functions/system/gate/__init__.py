"""Lets a node wait until it is decided whether it runs."""
