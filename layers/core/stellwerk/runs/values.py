"""The values of runs, as the journal keeps them: exact JSON, above 32 KiB in S3 by reference."""

from __future__ import annotations

import json

from stellwerk.kernel.ids import RunId
from stellwerk.kernel.json import JsonValue
from stellwerk.kernel.records import Stored
from stellwerk.tenancy.scope import Scope
from stellwerk.workflows.ports import Values
from stellwerk.workflows.values import INLINE_LIMIT, Texts, exact_json


class Keeper:
    """Keeps JSON values of runs."""

    def __init__(self, values: Values, *, limit: int = INLINE_LIMIT) -> None:
        self._texts = Texts(values, limit=limit)

    def keep(self, scope: Scope, run: RunId, value: JsonValue) -> Stored:
        """Return `value` as a journal row keeps it; raises ValueError on NaN and infinities."""
        return self._texts.keep(scope, f"runs/{run}", exact_json(value))

    def load(self, scope: Scope, stored: Stored) -> JsonValue:
        """Return the value that was kept; raises PermanentError where it is damaged."""
        value: JsonValue = json.loads(self._texts.load(scope, stored))
        return value
