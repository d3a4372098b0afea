"""Auditing acts: a record before, without which nothing happens, and one after that says how.

with self._audit.act(scope, "workflow.publish", f"workflow:{workflow.id}") as act:
act.before(old)
...
act.after(new)
"""

from __future__ import annotations

from contextlib import AbstractContextManager
from typing import Protocol

from pydantic import BaseModel

from stellwerk.tenancy.scope import Scope


class Act(Protocol):
    """An act under way."""

    def before(self, thing: BaseModel | None) -> None:
        """Note what the object was."""

    def after(self, thing: BaseModel | None) -> None:
        """Note what the object has become."""

    def object(self, name: str) -> None:
        """Name the object, where its id is known only now."""


class Audit(Protocol):
    """Writes what happens into the mandate's chain."""

    def act(self, scope: Scope, action: str, thing: str = "") -> AbstractContextManager[Act]:
        """Write `begun`, run the block, write `done`, or `denied` or `failed` with the reason.

        Raises ServiceUnavailable, without running the block, where `begun` cannot be written. An
        act inside another act of the same scope and thread is part of that and writes nothing.
        """

    def denied(self, scope: Scope, action: str, thing: str, reason: str) -> None:
        """Write that access rules refused an act; never raises for want of the store."""
