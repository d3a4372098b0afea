"""Typed ids.

New ones sort by time: 48 bits of milliseconds, then 80 random bits, in Crockford's base 32.
"""

from __future__ import annotations

import secrets
from datetime import datetime
from typing import NewType

MandateId = NewType("MandateId", str)
InstanceId = NewType("InstanceId", str)
UserId = NewType("UserId", str)
RoleId = NewType("RoleId", str)
WorkflowId = NewType("WorkflowId", str)
RunId = NewType("RunId", str)
TaskId = NewType("TaskId", str)
NodeKey = NewType("NodeKey", str)
Path = NewType("Path", str)
"""Where in nested loops a step ran: "" at the top, `lines[3]`, `lines[3].tries[0]`."""

ROOT = Path("")
_ALPHABET = "0123456789abcdefghjkmnpqrstvwxyz"


def new_id(now: datetime) -> str:
    """Return 26 characters that sort by `now` and cannot be guessed."""
    number = (int(now.timestamp() * 1000) << 80) | secrets.randbits(80)
    digits = []
    for _ in range(26):
        number, digit = divmod(number, 32)
        digits.append(_ALPHABET[digit])
    return "".join(reversed(digits))
