"""Lets a node that handles its own error go on."""
