"""Completes what a crash or a lost event has left undone."""
