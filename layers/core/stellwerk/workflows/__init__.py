"""Workflows: the graph, expressions, validation, the compiler to the States Language. Pure."""
