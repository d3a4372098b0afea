"""Expressions in parameters: JSONata in double braces.

`braces` finds them in text, `syntax` parses them, `references` says which names they use,
`evaluation` runs them under `bounds` on the `engine`, and `parameters` does all of it for the
parameters of a node.
"""
