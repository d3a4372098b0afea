"""Lambdas: nodes."""
