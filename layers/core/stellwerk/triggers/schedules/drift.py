"""Drift: what the Scheduler holds is compared with what is registered, and that with the workflows.

It arises where a process died between two writes, and where someone changed a schedule by hand.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import timedelta
from enum import StrEnum
from typing import Protocol

from stellwerk.kernel.clock import Clock
from stellwerk.kernel.errors import Conflict
from stellwerk.kernel.ids import WorkflowId
from stellwerk.tenancy.scope import Scope
from stellwerk.triggers.model import Armed
from stellwerk.triggers.schedules.model import Found, Planned, Registration
from stellwerk.triggers.schedules.part import SchedulePart, over
from stellwerk.workflows.model import Workflow
from stellwerk.workflows.ports import Versions, Wanted

_DOUBT = timedelta(minutes=5)
"""A schedule that was changed not long before we have told the Scheduler something is looked at."""
_TOGETHER = 100


class Kind(StrEnum):
    """What was wrong."""

    UNARMED = "unarmed"
    """Registered was something else than the published version wants."""
    MISSING = "missing"
    """The Scheduler did not hold it."""
    CHANGED = "changed"
    """The Scheduler held something else under its name, or had it switched off."""
    STRAY = "stray"
    """The Scheduler held a schedule that nobody wants."""


@dataclass(frozen=True)
class Repair:
    """One thing that was wrong, and is mended. `schedule` is its name; "": all of the workflow."""

    kind: Kind
    workflow: str
    schedule: str = ""


@dataclass(frozen=True)
class Report:
    """How many schedules were compared, and what was mended."""

    compared: int
    repairs: Sequence[Repair]


class Armer(Protocol):
    """Knows which triggers are armed; see `triggers.arming.Arming`."""

    def armed(self, scope: Scope, workflow: Workflow) -> Armed:
        """Return which triggers of a workflow may fire now."""


@dataclass(frozen=True)
class Drift:
    """Compares and mends. Requests: a list per mandate, and a few reads for each workflow."""

    part: SchedulePart
    arming: Armer
    versions: Versions
    clock: Clock

    def repair(self, scopes: Sequence[Scope], *, strays: bool = True) -> Report:
        """Mend what is wrong at `scopes`, instances of one mandate; `strays` where these are all.

        The Scheduler is listed before the registrations are: these are written first, so that what
        is just being registered is no stray.
        """
        repairs = [repair for scope in scopes for repair in self._armed(scope)]
        if not scopes:
            return Report(0, repairs)
        listed = {found.name: found for found in self.part.scheduler.listed(scopes[0])}
        known: set[str] = set()
        for scope in scopes:
            for registration in list(self.part.registrations.all(scope)):
                known |= registration.by_name.keys()
                repairs += self._mended(scope, registration, listed)
        if strays:
            for name in sorted(listed.keys() - known):
                self.part.scheduler.remove(scopes[0], name)
                repairs.append(Repair(Kind.STRAY, "", name))
        return Report(len(known), repairs)

    def _armed(self, scope: Scope) -> Iterator[Repair]:
        """Register anew what is not registered as published."""
        before = {one.workflow: one for one in self.part.registrations.all(scope)}
        for workflow in self._workflows(scope):
            known = before.get(workflow.id)
            if known is None and not (workflow.active and workflow.published):
                continue
            self.part.synchronise(scope, self.arming.armed(scope, workflow))
            now = self.part.registrations.get(scope, workflow.id)
            if now is not None and (known is None or now.planned != known.planned):
                yield Repair(Kind.UNARMED, workflow.id)

    def _workflows(self, scope: Scope) -> Iterator[Workflow]:
        cursor: str | None = None
        while True:
            page = self.versions.workflows(scope, Wanted(), cursor=cursor, limit=_TOGETHER)
            yield from page.items
            cursor = page.cursor
            if cursor is None:
                return

    def _mended(
        self, scope: Scope, registration: Registration, listed: Mapping[str, Found]
    ) -> Iterator[Repair]:
        wrong = dict(self._wrong(scope, registration, listed))
        if not wrong:
            return
        changes = {
            "unsettled": tuple(sorted({*registration.unsettled, *wrong})),
            "held": tuple(name for name in registration.held if name in listed),
        }
        try:
            begun = self.part.registrations.write(scope, registration.model_copy(update=changes))
        except Conflict:  # it is being changed: whoever does that tells the Scheduler
            return
        self.part.settle(scope, begun)
        for name, kind in sorted(wrong.items()):
            yield Repair(kind, registration.workflow, name)

    def _wrong(
        self, scope: Scope, registration: Registration, listed: Mapping[str, Found]
    ) -> Iterator[tuple[str, Kind]]:
        now = self.clock.now()
        for planned in registration.planned:
            found = listed.get(planned.name)
            if over(planned, now):
                continue
            if found is None:
                yield planned.name, Kind.MISSING
            elif self._differs(scope, registration, planned, found):
                yield planned.name, Kind.CHANGED

    def _differs(
        self, scope: Scope, registration: Registration, planned: Planned, found: Found
    ) -> bool:
        """Say whether something else is held; only what was changed since we did is looked at."""
        settled = registration.settled
        if not found.enabled or settled is None:
            return True
        if found.modified < settled - _DOUBT:
            return False
        held = self.part.scheduler.held(scope, planned.name)
        wanted = self.part.scheduler.input(scope, WorkflowId(registration.workflow), planned)
        return held is None or (held.text, held.zone, held.input) != (
            planned.text,
            planned.zone,
            wanted,
        )
