"""Measures what the project promises, and writes it down with the machine it was measured on."""
