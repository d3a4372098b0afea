"""Automation: schedules, runs and their monitoring."""
