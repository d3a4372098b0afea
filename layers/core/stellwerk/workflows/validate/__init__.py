"""What is wrong with a graph, all at once.

`subject` is the graph with its types, ports and levels; `order` and `certainty` say which node
comes before which, and which must have run; `schemas` walks parameters beside their JSON Schema;
each other module holds the rules of one concern; `validation` runs them all.
"""
