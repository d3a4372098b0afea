"""Lambdas: toolboxes."""
