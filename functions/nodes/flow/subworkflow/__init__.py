"""The node type `flow.subworkflow`."""
