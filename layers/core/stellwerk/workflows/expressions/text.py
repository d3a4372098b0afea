"""Values inside text. Numbers read as in JavaScript, where the editor shows them."""

from __future__ import annotations

from decimal import Decimal

from stellwerk.kernel.json import JsonValue, dumps

_SMALLEST, _LARGEST = 1e-6, 1e21


def render(value: JsonValue) -> str:
    """Return `value` as it reads inside text: strings as they are, null empty, all else as JSON."""
    if value is None:
        return ""
    if isinstance(value, str):
        return value
    if isinstance(value, float):
        return _number(value)
    return dumps(value)


def _number(value: float) -> str:
    if value == 0:
        return "0"
    if _SMALLEST <= abs(value) < _LARGEST:
        text = format(Decimal(repr(value)), "f")
        return text.rstrip("0").rstrip(".") if "." in text else text
    mantissa, _, exponent = format(Decimal(repr(value)).normalize(), "e").partition("e")
    return f"{mantissa}e{int(exponent):+d}"
