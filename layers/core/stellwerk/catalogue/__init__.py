"""What node types and actions say about themselves.

`catalogue.json` is generated from their declarations.
"""
