"""An event has come over the bus: what waits for it starts."""
