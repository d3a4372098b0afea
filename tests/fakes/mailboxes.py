"""Mailboxes that are watched, in memory."""

from __future__ import annotations

import threading
from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime

from stellwerk.kernel.ids import InstanceId, MandateId, NodeKey, WorkflowId
from stellwerk.kernel.records import Stored
from stellwerk.tenancy.scope import SYSTEM, Scope
from stellwerk.triggers.mail.model import Box, BoxKey, Watched, Watcher
from stellwerk.triggers.mail.ports import Watching


class FakeMailboxes:
    """Keeps them in dicts. Safe for use from any thread."""

    def __init__(self) -> None:
        self._boxes: dict[tuple[str, str, str], Box] = {}
        self._watchers: dict[tuple[str, str, str], dict[str, Watcher]] = {}
        self._lock = threading.RLock()

    def everywhere(self, scope: Scope) -> Iterator[Watched]:
        if scope.mandate == SYSTEM:
            for mandate, instance, box in list(self._boxes):
                yield Watched(MandateId(mandate), InstanceId(instance), box)

    def find(self, scope: Scope, box: str) -> tuple[Box, Sequence[Watcher]] | None:
        with self._lock:
            found = self._boxes.get(_at(scope, box))
            return None if found is None else (found, [*self._of(scope, box).values()])

    def watch(self, scope: Scope, key: BoxKey, watcher: Watcher, now: datetime) -> None:
        with self._lock:
            place, watchers = _at(scope, key.id), self._of(scope, key.id)
            new = Box(connection=key.connection, folder=key.folder, since=now)
            before = self._boxes.get(place, new)
            self._boxes[place] = before.model_copy(update={"joined": before.joined + 1})
            mail = watchers[watcher.id].mail if watcher.id in watchers else None
            watchers[watcher.id] = watcher.model_copy(update={"mail": mail})

    def unwatch(self, scope: Scope, box: str, watcher: Watcher) -> None:
        self._of(scope, box).pop(watcher.id, None)

    def of_workflow(self, scope: Scope, workflow: WorkflowId) -> Mapping[NodeKey, Watching]:
        return {
            watcher.node: Watching(self._boxes[place].key, watcher)
            for place, watchers in self._watchers.items()
            if place[:2] == (scope.mandate, scope.instance)
            for watcher in watchers.values()
            if watcher.workflow == workflow
        }

    def watcher(self, scope: Scope, box: str, watcher: str) -> Watcher | None:
        return self._of(scope, box).get(watcher)

    def arrive(self, scope: Scope, box: str, watcher: str, mail: Stored) -> Watcher | None:
        with self._lock:
            found = self._of(scope, box).get(watcher)
            if found is None or found.mail is not None:
                return found
            self._of(scope, box)[watcher] = found.model_copy(update={"mail": mail})
            return self._of(scope, box)[watcher]

    def withdraw(self, scope: Scope, box: str, watcher: str) -> Stored | None:
        with self._lock:
            found = self._of(scope, box).get(watcher)
            if found is not None and found.mail is None:
                del self._of(scope, box)[watcher]
            return None if found is None else found.mail

    def read_to(self, scope: Scope, box: Box) -> bool:
        with self._lock:
            stored = self._boxes.get(_at(scope, box.key.id))
            if stored is None or stored.revision != box.revision:
                return False
            fresh = {"revision": box.revision + 1, "joined": stored.joined}
            self._boxes[_at(scope, box.key.id)] = box.model_copy(update=fresh)
            return True

    def forget_progress(self, scope: Scope, before: Box) -> None:
        """Be as if the poller had died before it could note how far it came."""
        self._boxes[_at(scope, before.key.id)] = before

    def leave(self, scope: Scope, box: str, joined: int | None) -> None:
        with self._lock:
            stored = self._boxes.get(_at(scope, box))
            if stored is not None and stored.joined == joined:
                del self._boxes[_at(scope, box)]

    def _of(self, scope: Scope, box: str) -> dict[str, Watcher]:
        return self._watchers.setdefault(_at(scope, box), {})


def _at(scope: Scope, box: str) -> tuple[str, str, str]:
    return (scope.mandate, scope.instance, box)
