"""Who stands in for whom, who is told, which guests and files there are, in memory."""

from __future__ import annotations

import threading
from collections.abc import Sequence
from dataclasses import dataclass, field

from stellwerk.kernel.errors import NotFound
from stellwerk.kernel.ids import MandateId, UserId
from stellwerk.kernel.json import JsonObject
from stellwerk.tenancy.deputies import Deputy
from stellwerk.tenancy.notices import Notice
from stellwerk.tenancy.scope import Scope


class FakeDeputies:
    """Keeps deputies in a dict."""

    def __init__(self) -> None:
        self._named: dict[tuple[MandateId, UserId, UserId], Deputy] = {}

    def of(self, scope: Scope, user: UserId) -> Sequence[Deputy]:
        return [one for one in self._in(scope) if one.user == user]

    def by(self, scope: Scope, deputy: UserId) -> Sequence[Deputy]:
        return [one for one in self._in(scope) if one.deputy == deputy]

    def write(self, scope: Scope, deputy: Deputy) -> Deputy:
        if deputy.mandate != scope.mandate:
            raise NotFound(f"mandate {deputy.mandate} is not the one of this place")
        written = deputy.model_copy(update={"revision": deputy.revision + 1})
        self._named[scope.mandate, deputy.user, deputy.deputy] = written
        return written

    def remove(self, scope: Scope, user: UserId, deputy: UserId) -> None:
        self._named.pop((scope.mandate, user, deputy), None)

    def _in(self, scope: Scope) -> list[Deputy]:
        keys = sorted(key for key in self._named if key[0] == scope.mandate)
        return [self._named[key] for key in keys]


@dataclass
class FakeNotices:
    """Remembers who was told what."""

    told: list[Notice] = field(default_factory=list)
    lock: threading.Lock = field(default_factory=threading.Lock)

    def notify(self, scope: Scope, notice: Notice) -> None:
        with self.lock:
            self.told.append(notice)

    @property
    def kinds(self) -> list[str]:
        """What was told, in order."""
        return [notice.kind for notice in self.told]


@dataclass
class FakeGuests:
    """Lets guests decide, or not."""

    allow: bool = True

    def allowed(self, scope: Scope) -> bool:
        return self.allow


@dataclass
class FakeUploads:
    """Knows files by instance and id."""

    known: dict[tuple[str, str], JsonObject] = field(default_factory=dict)

    def found(self, scope: Scope, file: str) -> JsonObject | None:
        return self.known.get((scope.instance, file))
