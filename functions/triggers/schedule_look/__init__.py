"""Planned times that nothing fired are looked for."""
