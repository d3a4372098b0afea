"""Keeps the event logs of runs behind their journals."""
