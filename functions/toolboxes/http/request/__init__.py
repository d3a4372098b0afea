"""The action `http.request`."""
