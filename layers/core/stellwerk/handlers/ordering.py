"""Which JSON values can be compared: texts with texts, numbers with numbers; null comes last."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeAlias

from stellwerk.kernel.errors import InvalidParameters
from stellwerk.kernel.json import JsonValue

Comparable: TypeAlias = tuple[bool, float | int | str]


def comparable(values: Sequence[JsonValue], *, place: str) -> list[Comparable]:
    """Return keys that sort as `values` do; raise InvalidParameters, naming `place`."""
    kinds = {_kind(value) for value in values} - {"null"}
    if len(kinds) > 1 or kinds & {"list", "object"}:
        raise InvalidParameters(
            f"{place}: cannot compare {' with '.join(sorted(kinds))}.",
            remedy="Give one kind of value for all items: texts, or numbers.",
        )
    empty: str | int = "" if kinds == {"text"} else 0
    return [_key(value, empty) for value in values]


def _key(value: JsonValue, empty: str | int) -> Comparable:
    return (False, value) if isinstance(value, str | int | float) else (True, empty)


def _kind(value: JsonValue) -> str:
    if value is None:
        return "null"
    if isinstance(value, bool):
        return "truth"
    if isinstance(value, str):
        return "text"
    if isinstance(value, int | float):
        return "number"
    return "list" if isinstance(value, list) else "object"
