"""CommCoach: practising conversations, with feedback afterwards."""
