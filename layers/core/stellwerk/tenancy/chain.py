"""The audit chain: each record carries the hash of the one before, across all days of a mandate.

A chain has no lock. Who writes puts the number after the last one he knows of, under the condition
that it is free, and takes the next one when another was faster. Threads of one process take turns,
so that they do not meet there.
"""

from __future__ import annotations

import logging
import random
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import TYPE_CHECKING, TypedDict

from pydantic import BaseModel

from stellwerk.kernel.clock import Clock
from stellwerk.kernel.errors import Conflict, ServiceUnavailable, StellwerkError
from stellwerk.kernel.ids import new_id
from stellwerk.kernel.json import digest
from stellwerk.tenancy.auditing import Act
from stellwerk.tenancy.evidence import AuditRecord, Outcome
from stellwerk.tenancy.refusals import refusal_of
from stellwerk.tenancy.scope import Scope

if TYPE_CHECKING:  # every process that runs a node imports this module
    from stellwerk.tenancy.ports import AuditLog

LOG = logging.getLogger(__name__)
_JITTER = random.Random()
TRIES = 16
"""Of one record: with pauses about 5 s in all, enough for 40 who write at once."""
OBJECT, REASON = 200, 1000
"""Characters of an object's name and of a reason that are kept."""
TIPS = 1000
"""Mandates whose last record is remembered."""
TURNS = 16
"""Locks of a process, of which each mandate has one."""


class _Facts(TypedDict, total=False):
    """What a record says beyond who and where."""

    object: str
    begun: int
    begun_day: str
    before: str
    after: str
    reason: str


class ChainedAudit:
    """Implements `auditing.Audit` on a log."""

    def __init__(
        self, log: AuditLog, clock: Clock, *, pause: Callable[[float], None] = time.sleep
    ) -> None:
        self._log = log
        self._clock = clock
        self._pause = pause
        self._tips: dict[str, AuditRecord] = {}
        self._turns = [threading.Lock() for _ in range(TURNS)]

    @contextmanager
    def act(self, scope: Scope, action: str, thing: str = "") -> Iterator[Act]:
        """Write `begun`, run the block, write how it ended; see `auditing.Audit`."""
        outer = _current.get()
        if outer is not None and outer.covers(self, scope):
            yield _Part()
            return
        act = _Chained(self, scope, action, thing)
        act.begin()
        token = _current.set(act)
        try:
            yield act
        except Exception as error:
            act.end(*_ending(error))
            raise
        else:
            act.end(Outcome.DONE)
        finally:
            _current.reset(token)

    def denied(self, scope: Scope, action: str, thing: str, reason: str) -> None:
        """Write that access rules refused an act; without the store, into the log of errors."""
        try:
            self.write(scope, action, Outcome.DENIED, {"object": thing, "reason": reason})
        except StellwerkError:
            LOG.exception("audit failure: the denial of '%s' on '%s' is lost", action, thing)

    def write(self, scope: Scope, action: str, outcome: Outcome, facts: _Facts) -> AuditRecord:
        """Append a record; raises ServiceUnavailable where too many others write at once."""
        with self._turns[hash(scope.mandate) % TURNS]:
            return self._append(scope, action, outcome, facts)

    def _append(self, scope: Scope, action: str, outcome: Outcome, facts: _Facts) -> AuditRecord:
        for attempt in range(1, TRIES + 1):
            record = self._next(scope, action, outcome, facts)
            try:
                self._log.append(scope, record)
            except Conflict:
                self._tips.pop(scope.mandate, None)
                self._pause(_JITTER.uniform(0, min(0.5, 0.005 * 2**attempt)))
            else:
                self._remember(record)
                return record
        raise ServiceUnavailable(f"too many write audit records of '{scope.mandate}' at once")

    def _next(self, scope: Scope, action: str, outcome: Outcome, facts: _Facts) -> AuditRecord:
        now = self._clock.now().astimezone(UTC)
        number, previous, previous_day = self._follow(scope, now)
        return AuditRecord.model_validate(
            {
                **facts,
                "object": facts.get("object", "")[:OBJECT],
                "reason": facts.get("reason", "")[:REASON],
                "id": new_id(now),
                "mandate": scope.mandate,
                "day": f"{now:%Y-%m-%d}",
                "number": number,
                "at": now,
                "user": scope.user,
                "instance": scope.instance,
                "action": action,
                "outcome": outcome,
                "request": scope.request,
                "previous": previous,
                "previous_day": previous_day,
            }
        ).sealed()

    def _follow(self, scope: Scope, now: datetime) -> tuple[int, str, str | None]:
        """Return number, hash before and, for the first of a day, the day of that hash."""
        day = f"{now:%Y-%m-%d}"
        tip = self._tips.get(scope.mandate)
        if tip is None or tip.day != day:
            tip = self._log.last(scope, day)
        if tip is not None:
            return tip.number + 1, tip.hash, None
        before = self._log.day_before(scope, day)
        last = self._log.last(scope, before) if before else None
        return 1, last.hash if last else "", before

    def _remember(self, record: AuditRecord) -> None:
        if len(self._tips) >= TIPS:
            self._tips.clear()
        self._tips[record.mandate] = record


@dataclass
class _Chained:
    """An act that is written into the chain."""

    audit: ChainedAudit
    scope: Scope
    action: str
    thing: str
    before_hash: str = ""
    after_hash: str = ""
    begun: AuditRecord | None = None

    def before(self, thing: BaseModel | None) -> None:
        self.before_hash = _hash(thing)

    def after(self, thing: BaseModel | None) -> None:
        self.after_hash = _hash(thing)

    def object(self, name: str) -> None:
        self.thing = name

    def covers(self, audit: ChainedAudit, scope: Scope) -> bool:
        """Whether an act of `scope` that begins now is part of this one."""
        own = (self.scope.mandate, self.scope.user, self.scope.request)
        return audit is self.audit and own == (scope.mandate, scope.user, scope.request)

    def begin(self) -> None:
        """Write that it begins; raises ServiceUnavailable where that cannot be written."""
        try:
            self.begun = self.audit.write(
                self.scope, self.action, Outcome.BEGUN, {"object": self.thing}
            )
        except StellwerkError as error:
            LOG.exception("audit failure: '%s' does not happen unrecorded", self.action)
            raise ServiceUnavailable(
                f"'{self.action}' cannot be recorded in the audit now and was not done",
                remedy="Try again later; if it stays so, tell the operator.",
            ) from error

    def end(self, outcome: Outcome, reason: str = "") -> None:
        """Write how it ended; where that cannot be written its outcome stays unknown."""
        try:
            self.audit.write(self.scope, self.action, outcome, self._facts(reason))
        except StellwerkError:
            LOG.exception(
                "audit failure: the outcome '%s' of '%s' on '%s' is lost",
                outcome,
                self.action,
                self.thing,
            )

    def _facts(self, reason: str) -> _Facts:
        facts: _Facts = {
            "object": self.thing,
            "before": self.before_hash,
            "after": self.after_hash,
            "reason": reason,
        }
        if self.begun is not None:
            facts |= {"begun": self.begun.number, "begun_day": self.begun.day}
        return facts


class _Part:
    """An act inside another one, whose record speaks for both."""

    def before(self, thing: BaseModel | None) -> None:
        """Leave that to the whole."""

    def after(self, thing: BaseModel | None) -> None:
        """Leave that to the whole."""

    def object(self, name: str) -> None:
        """Leave that to the whole."""


_current: ContextVar[_Chained | None] = ContextVar("act", default=None)


def _hash(thing: BaseModel | None) -> str:
    return "" if thing is None else digest(thing.model_dump(mode="json"))


def _ending(error: Exception) -> tuple[Outcome, str]:
    """Return outcome and reason of an act that ended so.

    A NotFound whose cause is a refusal hides that from the caller, not from the audit. Of errors
    that are not ours only the name is kept: nobody knows what their messages carry.
    """
    refusal = refusal_of(error)
    if refusal is not None:
        refusal.recorded = True
        return Outcome.DENIED, refusal.message
    if isinstance(error, StellwerkError):
        return Outcome.FAILED, f"{error.type}: {error.message}"
    return Outcome.FAILED, type(error).__name__
