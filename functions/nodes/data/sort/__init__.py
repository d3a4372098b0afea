"""The node type `data.sort`."""
