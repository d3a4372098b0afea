"""The workspace: an assistant with all toolboxes, and the files and sources it works with."""
