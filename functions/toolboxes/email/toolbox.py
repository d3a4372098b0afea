"""The box of actions on mailboxes."""

from __future__ import annotations

TITLE = "E-mail"
ICON = "envelope"
CONNECTION: str | None = "mailbox"
