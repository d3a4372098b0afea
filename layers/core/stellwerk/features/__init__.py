"""The features of the product, a container each: `<code>/feature.py` and, if it has any, routes.

`found` finds them; `declaring` has the words in which they are written.
"""
