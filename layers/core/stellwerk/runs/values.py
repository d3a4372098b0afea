"""The values of runs, as the journal keeps them: exact JSON, above 32 KiB in S3 by reference."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping

from stellwerk.kernel.ids import RunId
from stellwerk.kernel.json import JsonValue
from stellwerk.kernel.records import Stored
from stellwerk.tenancy.scope import Scope
from stellwerk.workflows.ports import Values
from stellwerk.workflows.values import INLINE_LIMIT, Texts, exact_json


def object_text(fields: Mapping[str, str]) -> str:
    """Return the JSON of an object whose values are JSON already: large ones are not parsed."""
    return "{" + ",".join(f"{json.dumps(name)}:{text}" for name, text in fields.items()) + "}"


def list_text(items: Iterable[str]) -> str:
    """Return the JSON of a list whose items are JSON already."""
    return "[" + ",".join(items) + "]"


class Keeper:
    """Keeps JSON values of runs."""

    def __init__(self, values: Values, *, limit: int = INLINE_LIMIT) -> None:
        self._texts = Texts(values, limit=limit)

    def keep(self, scope: Scope, run: RunId, value: JsonValue) -> Stored:
        """Return `value` as a journal row keeps it; raises ValueError on NaN and infinities."""
        return self._texts.keep(scope, f"runs/{run}", exact_json(value))

    def keep_text(self, scope: Scope, run: RunId, text: str) -> Stored:
        """Return a value that is JSON already, as a journal row keeps it."""
        return self._texts.keep(scope, f"runs/{run}", text)

    def owned(self, scope: Scope, run: RunId, stored: Stored | None) -> Stored | None:
        """Return a value of any run as one of `run`: it stays when the other run goes."""
        if stored is None or stored.ref is None or stored.ref.key.startswith(f"runs/{run}/"):
            return stored
        return self.keep_text(scope, run, self.load_text(scope, stored))

    def load_text(self, scope: Scope, stored: Stored | None) -> str:
        """Return the JSON of the value that was kept; `null` where none was."""
        return self._texts.load(scope, stored) if stored is not None else "null"

    def load(self, scope: Scope, stored: Stored) -> JsonValue:
        """Return the value that was kept; raises PermanentError where it is damaged."""
        value: JsonValue = json.loads(self._texts.load(scope, stored))
        return value
