"""Lambdas: what starts runs by itself."""
