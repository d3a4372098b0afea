"""Between plain JSON and JSONata's values, where null and nothing are two things."""

from __future__ import annotations

import math

from jsonata.utils import Utils

from stellwerk.kernel.json import JsonValue
from stellwerk.workflows.expressions.bounds import Bounds, Halt


def marked(value: JsonValue) -> object:
    """Return `value` with every null as JSONata's null; the same object where it holds none."""
    if value is None:
        return Utils.NULL_VALUE
    if isinstance(value, list):
        items = [marked(item) for item in value]
        return (
            items if any(new is not old for new, old in zip(items, value, strict=True)) else value
        )
    if isinstance(value, dict):
        entries = {key: marked(item) for key, item in value.items()}
        return entries if any(entries[key] is not value[key] for key in value) else value
    return value


def plain(value: object, bounds: Bounds) -> JsonValue:
    """Return `value` as plain JSON; raise Halt for functions and numbers that are not finite."""
    if value is None or value is Utils.NULL_VALUE:
        return None
    if isinstance(value, float) and not math.isfinite(value):
        raise Halt("gives a number that is not finite", remedy="Check its calculation.")
    if isinstance(value, str | bool | int | float):
        return value
    bounds.check()
    if isinstance(value, list):
        return [plain(item, bounds) for item in value]
    if isinstance(value, dict):
        return {str(key): plain(item, bounds) for key, item in value.items()}
    raise Halt("gives a function", remedy="Call it: $name(...)")
