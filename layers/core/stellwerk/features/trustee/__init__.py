"""Trustee: bookkeeping for clients, from the document to the booked position."""
