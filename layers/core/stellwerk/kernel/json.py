"""JSON as the product stores it: exact, compact, and in one canonical form for hashes."""

from __future__ import annotations

import hashlib
import json
from datetime import datetime
from typing import Annotated, TypeAlias

from pydantic import BeforeValidator, Strict
from pydantic import JsonValue as JsonValue

JsonObject: TypeAlias = dict[str, JsonValue]


def _number(value: object) -> object:
    if isinstance(value, bool | str):
        raise ValueError("must be a number")  # noqa: TRY004 - pydantic collects this one
    return value


def _text(value: object) -> object:
    if isinstance(value, str | datetime):
        return value
    raise ValueError("must be a text, as in 2026-12-01T08:15:00Z")


TEXTUAL = BeforeValidator(_text)
"""Of moments: else a number is taken for seconds."""
NUMERIC = BeforeValidator(_number)
"""After the bounds, if there are any: `Annotated[int, Field(ge=1), NUMERIC]` tells its schema."""
Number = Annotated[float, NUMERIC]
Whole = Annotated[int, NUMERIC]
Flag = Annotated[bool, Strict()]
"""As JSON tells them apart: a text is no number, true is none either, and 14.0 is 14."""

_ENCODER = json.JSONEncoder(ensure_ascii=False, separators=(",", ":"), allow_nan=False)


def dumps(value: JsonValue) -> str:
    """Return `value` as compact JSON text; raise ValueError on NaN and infinities."""
    return _ENCODER.encode(value)


def canonical(value: JsonValue) -> str:
    """Return the one text that equal values share: keys sorted, compact, plain ASCII."""
    return json.dumps(value, sort_keys=True, separators=(",", ":"), allow_nan=False)


def digest(value: JsonValue) -> str:
    """Return the SHA-256 of the canonical form, in hexadecimal."""
    return hashlib.sha256(canonical(value).encode()).hexdigest()
