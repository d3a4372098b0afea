"""Writes that replace exactly the revision that their record carries."""

from __future__ import annotations

from typing import TypeVar

from stellwerk.aws.expressions import Term, absent, equals
from stellwerk.kernel.records import Record

R = TypeVar("R", bound=Record)


def unchanged(record: Record) -> tuple[Term, ...]:
    """Return the condition that the stored item is what `record` replaces; 0: there is none."""
    return (equals("revision", record.revision) if record.revision else absent(),)


def written(record: R) -> R:
    """Return `record` as it stands after its write."""
    return record.model_copy(update={"revision": record.revision + 1})
