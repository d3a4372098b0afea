"""Workflows: the graph, its expressions, its validation, and the compiler to the States Language. Pure."""
