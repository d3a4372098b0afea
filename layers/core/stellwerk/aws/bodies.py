"""Records as rows: one JSON text `body`, and attributes beside it for what keys and conditions use.

A body that could near the 400 KB of an item goes to S3 and leaves a reference. Attributes win over
the body on reading, so a transition changes them without rewriting it.
"""

from __future__ import annotations

import secrets
from collections.abc import Mapping
from typing import TypeVar

from stellwerk.aws.errors import Reason
from stellwerk.aws.expressions import Attribute, Item, Term, Update, decoded
from stellwerk.aws.keys import Key
from stellwerk.kernel.records import Record, Stored, ValueRef
from stellwerk.tenancy.scope import Scope
from stellwerk.workflows.ports import Values
from stellwerk.workflows.values import Texts

BODY_LIMIT = 256 * 1024
"""Bytes of a body that stays in its item; the rest of the item needs under 10 KB."""

T = TypeVar("T", bound=Record)


class Bodies:
    """Writes records into items and reads them."""

    def __init__(self, values: Values, *, limit: int = BODY_LIMIT) -> None:
        self._texts = Texts(values, limit=limit)

    def item(self, scope: Scope, record: Record, place: str) -> Item:
        """Return the attributes of `record` as its next revision; `place` is where long ones go."""
        stored = self._texts.keep(scope, place, record.model_dump_json(exclude={"revision"}))
        item: Item = {"revision": record.revision + 1, "write": secrets.token_hex(8)}
        if stored.ref is None:
            return item | {"body": stored.text or ""}
        return item | {"body_ref": stored.ref.model_dump_json()}

    def record(self, scope: Scope, item: Item, model: type[T]) -> T:
        """Return the record of an item, at the item's revision."""
        body = self._texts.load(scope, _stored(item))
        return model.model_validate_json(f'{{"revision":{item["revision"]},{body[1:]}')


def changes(key: Key, item: Item, when: tuple[Term, ...]) -> Update:
    """Return the update that gives an existing item these attributes, its body replaced."""
    other = "body" if "body_ref" in item else "body_ref"
    return Update(key, set=item, remove=(other,), when=when)


def written_before(item: Mapping[str, Attribute], reason: Reason) -> bool:
    """Whether the refused write is the one that is stored: its first answer was lost on the way."""
    if not reason.failed or reason.item is None:
        return False
    return decoded(reason.item).get("write") == item["write"]


def _stored(item: Item) -> Stored:
    if "body_ref" in item:
        return Stored(ref=ValueRef.model_validate_json(str(item["body_ref"])))
    return Stored(text=str(item["body"]))
