"""Where the sweeper's last round has stopped."""

from __future__ import annotations

from stellwerk.aws import keys
from stellwerk.aws.expressions import Put
from stellwerk.aws.items import Items
from stellwerk.runs.platform import Mark
from stellwerk.tenancy.scope import Scope


class DynamoMarks:
    """The mark on the table `platform`. Requests: 1 each."""

    def __init__(self, items: Items) -> None:
        self._items = items

    def read(self, scope: Scope) -> Mark | None:
        """Return where it has stopped; None: it went all the way round."""
        item = self._items.get(keys.sweep_mark(scope))
        text = str(item["mark"]) if item else ""
        return Mark.model_validate_json(text) if text else None

    def write(self, scope: Scope, mark: Mark | None) -> None:
        """Note where it stops; of two rounds at once the last one counts."""
        text = mark.model_dump_json() if mark is not None else ""
        self._items.put(Put(keys.sweep_mark(scope), {"mark": text}))
