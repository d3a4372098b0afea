"""Watching runs: their event log, what came of them by day, who is told, how long they are kept."""
