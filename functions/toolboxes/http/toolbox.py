"""The box of actions on services that speak HTTP and need no connection of their own."""

from __future__ import annotations

TITLE = "HTTP"
ICON = "globe"
CONNECTION: str | None = None
