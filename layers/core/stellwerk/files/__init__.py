"""Files that people upload: what they are, who may see them, and their content behind a port."""
