"""Words for faults: how values, types and near misses read."""

from __future__ import annotations

import difflib
import json
import re
import unicodedata
from collections.abc import Iterable

from stellwerk.kernel.json import JsonValue

_LONGEST = 60
_MOST_COMPARED = 200
_TYPES = {
    "null": "nothing (null)",
    "boolean": "true or false",
    "integer": "a whole number",
    "number": "a number",
    "string": "a text",
    "array": "a list",
    "object": "an object",
}
_SPELLED = str.maketrans({"ä": "ae", "ö": "oe", "ü": "ue", "ß": "ss", "æ": "ae", "ø": "oe"})


def shown(value: JsonValue) -> str:
    """Return `value` as JSON, shortened."""
    text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
    text = text if len(text) <= _LONGEST else f"{text[:_LONGEST]}…"
    return f'"{text}"' if isinstance(value, str) else text


def type_words(types: Iterable[str]) -> str:
    """Return the names of JSON types as people say them: a text or a list."""
    return " or ".join(_TYPES.get(name, name) for name in types)


def type_of(value: JsonValue) -> str:
    """Return the JSON type of a value."""
    if value is None:
        return "null"
    if isinstance(value, bool):
        return "boolean"
    if isinstance(value, int | float):
        return "number"
    if isinstance(value, str):
        return "string"
    return "array" if isinstance(value, list) else "object"


def did_you_mean(wrong: str, known: Iterable[str]) -> str:
    """Return a hint at the most similar of the known words, or an empty text."""
    words = sorted(known)
    near = difflib.get_close_matches(wrong, words, n=1) if len(words) <= _MOST_COMPARED else []
    return f"Did you mean {near[0]}?" if near else ""


def as_key(text: str) -> str:
    """Return `text` as a valid node key, or an empty text if nothing of it can stay."""
    spelled = unicodedata.normalize("NFC", text).lower().translate(_SPELLED)
    plain = unicodedata.normalize("NFKD", spelled).encode("ascii", "ignore").decode()
    return re.sub(r"[^a-z0-9]+", "_", plain).strip("_").lstrip("0123456789_")[:40].rstrip("_")


def listed(words: Iterable[str]) -> str:
    """Return words as a list, shortened when there are many."""
    every = list(words)
    more = f" and {len(every) - 12} more" if len(every) > 12 else ""
    return ", ".join(every[:12]) + more
