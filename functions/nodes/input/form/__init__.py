"""The node type `input.form`."""
