"""Rounds through all mandates: once a day a look at every slot, and in between what cannot wait.

A mark says when the next round is due: in a day, when some clock is put forward before that, or
when something owed is due. Until then a call costs one read.
"""

from __future__ import annotations

import logging
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from functools import cache
from itertools import groupby
from typing import Protocol
from zoneinfo import ZoneInfo, available_timezones

from stellwerk.kernel.clock import Clock
from stellwerk.kernel.errors import ServiceUnavailable
from stellwerk.kernel.json import JsonObject
from stellwerk.runs.deadline import Deadline
from stellwerk.tenancy.scope import Scope, of_platform
from stellwerk.triggers.schedules.drift import Drift
from stellwerk.triggers.schedules.missing import MissedSlots
from stellwerk.triggers.schedules.model import Mark, Registration
from stellwerk.triggers.schedules.occurrences import gap_ended
from stellwerk.triggers.schedules.ports import Marks, Registrations

LOG = logging.getLogger(__name__)
DAY = timedelta(days=1)
GRACE = timedelta(minutes=15)
"""How long a slot may be without a row: the Scheduler tries again where a call fails."""


class NotLooked(ServiceUnavailable):
    """Some mandates could not be looked at; the message names them. All others were."""


class Places(Protocol):
    """Knows all instances; see `runs.rounds.Rounds`."""

    def everywhere(self, *, request: str = "") -> Iterator[Scope]:
        """Yield the platform's scope at every instance of every active mandate, by mandate."""


@dataclass(frozen=True)
class ScheduleRounds:
    """Goes round all instances."""

    places: Places
    registrations: Registrations
    missed: MissedSlots
    drift: Drift
    marks: Marks
    clock: Clock

    def go(self, deadline: Deadline, *, request: str = "") -> JsonObject:
        """Make the round if it is due; return what there was to do. Raises as `at_once`."""
        mark = self.marks.read(of_platform(request=request))
        if mark is not None and self.clock.now() < mark.due:
            return {"looked": 0, "repaired": 0}
        return self.at_once(deadline, request=request)

    def at_once(
        self,
        deadline: Deadline,
        *,
        request: str = "",
        grace: timedelta = GRACE,
        afresh: bool = False,
    ) -> JsonObject:
        """Make a round now. `grace` is how long a slot may be without a row.

        `afresh`, at a start: compare even if that was done today, and leave it to the next round to
        look when clocks change, which takes its time.
        A round that is out of time is begun anew by the next call: what was looked at costs it
        little. Raises NotLooked at the end, naming the mandates that could not be looked at.
        """
        begun, platform = self.clock.now(), of_platform(request=request)
        mark = self.marks.read(platform)
        compared = mark.compared if mark is not None else None
        comparing = afresh or compared is None or begun >= compared + DAY
        round_ = _Round(self, _Times(begun - grace, begun, comparing=comparing), deadline)
        for _, scopes in groupby(self.places.everywhere(request=request), lambda at: at.mandate):
            round_.mandate(list(scopes))
        if not round_.out_of_time:
            due = begun if afresh else min([*round_.owed, *_changes(begun), begun + DAY])
            compared = begun if comparing else compared
            self.marks.write(platform, Mark(due=due, compared=compared))
        round_.check()
        return {"looked": round_.looked, "repaired": round_.repaired}


@dataclass(frozen=True)
class _Times:
    """Until when slots must have rows, when the round has begun, and whether it compares."""

    until: datetime
    begun: datetime
    comparing: bool


class _Round:
    """One of them, and what has come of it so far."""

    def __init__(self, rounds: ScheduleRounds, times: _Times, deadline: Deadline) -> None:
        self._rounds = rounds
        self._times = times
        self._deadline = deadline
        self._failed: dict[str, None] = {}
        self.owed: list[datetime] = []
        self.looked = self.repaired = 0

    @property
    def out_of_time(self) -> bool:
        """Whether the rest is left to the next round."""
        return self._deadline.remaining <= 0

    def mandate(self, scopes: Sequence[Scope]) -> None:
        """Look at the instances of a mandate; what is wrong with it stays with it."""
        if self.out_of_time:
            return
        try:
            if self._times.comparing:
                repairs = self._rounds.drift.repair(scopes).repairs
                self.repaired += len(repairs)
                for repair in repairs:
                    LOG.warning("schedule mended in %s: %s", scopes[0].mandate, repair)
            for scope in scopes:
                for registration in list(self._rounds.registrations.all(scope)):
                    if not self.out_of_time:
                        self._look(scope, registration)
        except Exception:
            LOG.exception("schedules of mandate %s could not be looked at", scopes[0].mandate)
            self._failed[scopes[0].mandate] = None

    def check(self) -> None:
        """Raise NotLooked if there are mandates that could not be looked at."""
        if self._failed:
            raise NotLooked(
                f"The schedules of these mandates could not be looked at: "
                f"{', '.join(self._failed)}.",
                remedy="The log has the reason of each. Others were looked at.",
            )

    def _look(self, scope: Scope, registration: Registration) -> None:
        missed, until = self._rounds.missed, self._times.until
        missed.leap(scope, registration, until, self._times.begun)
        while registration.checked < until and not self.out_of_time:
            before = registration.checked
            registration = missed.look(scope, registration, until)
            if registration.checked == before:
                break
        if registration.owed:
            registration = missed.pay(scope, registration)
        self.owed += [one.due for one in registration.owed]
        self.looked += 1


def _changes(begun: datetime) -> Iterator[datetime]:
    """Yield when within a day some clock is put forward, to the minute."""
    turning = [zone for zone in _zones() if _offset(zone, begun + DAY) > _offset(zone, begun)]
    for step in (timedelta(hours=1), timedelta(minutes=1)):
        while turning and not any(gap_ended(zone, begun, begun + step) for zone in turning):
            begun += step
    if turning:
        yield begun + timedelta(minutes=1)


def _offset(zone: ZoneInfo, moment: datetime) -> timedelta:
    return moment.astimezone(zone).utcoffset() or timedelta()


@cache
def _zones() -> tuple[ZoneInfo, ...]:
    return tuple(ZoneInfo(name) for name in sorted(available_timezones()))
