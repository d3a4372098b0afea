"""JSON values as the States Language moves them: copied by value, measured in UTF-8."""

from __future__ import annotations

import json
from typing import TypeAlias

Json: TypeAlias = "bool | int | float | str | list[Json] | dict[str, Json] | None"

STATE_BYTES = 256 * 1024
"""How large a state's input, output and a Task's payload may be, in bytes of UTF-8."""


_ENCODER = json.JSONEncoder(separators=(",", ":"), ensure_ascii=False, default=str)
_ATOMS = frozenset({str, int, float, bool, type(None)})
"""What need not be copied, told without a call each: most of every value is such."""


def copied(value: object) -> object:
    """Return a deep copy of a JSON value; anything else is handed on as it is.

    Lists and objects of subclasses come out plain.
    """
    if isinstance(value, dict):
        return {key: item if type(item) in _ATOMS else copied(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [item if type(item) in _ATOMS else copied(item) for item in value]
    return value


def size_of(value: object) -> int:
    """Return how many bytes `value` has as compact JSON."""
    if value is None or isinstance(value, bool | int | float):
        return len(str(value))
    text = _ENCODER.encode(value)
    return len(text) if text.isascii() else len(text.encode())
