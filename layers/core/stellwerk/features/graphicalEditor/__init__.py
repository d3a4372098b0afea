"""The graphical editor: drawing, testing and publishing workflows."""
