"""Runs: the journal of steps, run and task states, starting, deciding, replaying."""
