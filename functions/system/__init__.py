"""Lambdas: system."""
