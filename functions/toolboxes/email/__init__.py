"""The toolbox of mail."""
