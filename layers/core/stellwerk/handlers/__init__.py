"""The Lambda edge: what surrounds every node, action and system handler."""
