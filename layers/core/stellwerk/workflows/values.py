"""Exact texts of any size: short ones stay in the row, long ones go to S3 by reference."""

from __future__ import annotations

import hashlib
import json

from stellwerk.kernel.errors import PermanentError
from stellwerk.kernel.json import JsonValue, dumps
from stellwerk.kernel.records import Stored, ValueRef
from stellwerk.tenancy.scope import Scope
from stellwerk.workflows.ports import Values

INLINE_LIMIT = 32 * 1024
"""Bytes of UTF-8 up to which a text stays in its row."""


class Texts:
    """Keeps texts. An object's name is its text's hash, so keeping a text twice changes nothing."""

    def __init__(self, values: Values, *, limit: int = INLINE_LIMIT) -> None:
        self._values = values
        self._limit = limit

    def keep(self, scope: Scope, place: str, text: str) -> Stored:
        """Return `text` as a row keeps it, with what is too long for that written below `place`."""
        data = text.encode()
        if len(data) <= self._limit:
            return Stored(text=text)
        sha256 = hashlib.sha256(data).hexdigest()
        ref = ValueRef(key=f"{place}/{sha256}", size=len(data), sha256=sha256)
        self._values.put(scope, ref.key, data)
        return Stored(ref=ref)

    def load(self, scope: Scope, stored: Stored) -> str:
        """Return what was kept; raises PermanentError where it is damaged."""
        if stored.ref is None:
            return stored.text or ""
        data = self._values.get(scope, stored.ref.key)
        sha256 = hashlib.sha256(data).hexdigest()
        if (len(data), sha256) != (stored.ref.size, stored.ref.sha256):
            raise PermanentError(
                f"the stored value {stored.ref.key} is damaged: {len(data)} bytes with SHA-256 "
                f"{sha256}, recorded were {stored.ref.size} bytes with {stored.ref.sha256}",
                remedy="Restore the object from an earlier version in the bucket.",
            )
        return data.decode()


def exact_json(value: JsonValue) -> str:
    """Return JSON that UTF-8 can carry: half a surrogate pair, legal in JSON, stays an escape."""
    text = dumps(value)
    try:
        text.encode()
    except UnicodeEncodeError:
        return json.dumps(value, separators=(",", ":"), allow_nan=False)
    return text
