"""JSON as the product stores it: exact, compact, and in one canonical form for hashes."""

from __future__ import annotations

import hashlib
import json
from typing import TypeAlias

from pydantic import JsonValue as JsonValue

JsonObject: TypeAlias = dict[str, JsonValue]

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
