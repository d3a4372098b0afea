"""Trigger: a mail."""
