"""The administration: each mandate has it once; its roles are those of the mandate."""
