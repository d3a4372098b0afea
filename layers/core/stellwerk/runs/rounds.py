"""The sweeper's rounds: through every instance of every active mandate, a piece of it each time.

A round that is out of time, or has made as many repairs as it may, notes where it has stopped; the
next one begins there and goes round. What is wrong with a mandate stays with that mandate.
"""

from __future__ import annotations

import logging
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import datetime

from stellwerk.kernel.errors import Conflict, ServiceUnavailable
from stellwerk.kernel.ids import MandateId
from stellwerk.kernel.json import JsonObject
from stellwerk.runs.deadline import Deadline
from stellwerk.runs.platform import Mark, Places
from stellwerk.runs.sweeping import KINDS, Sweeper
from stellwerk.runs.world import World
from stellwerk.tenancy.scope import NO_INSTANCE, Scope, of_platform

LOG = logging.getLogger(__name__)
_TOGETHER = 100
"""Ids of mandates that are read at once."""


class NotSwept(ServiceUnavailable):
    """Some mandates could not be swept; the message names them. All others were."""


@dataclass(frozen=True)
class Bounds:
    """How far a round may go."""

    limit: int
    """Repairs that it makes at most."""
    deadline: Deadline


class Rounds:
    """Goes round all mandates."""

    def __init__(self, world: World, sweeper: Sweeper) -> None:
        self._places = world.places
        self._marks = world.marks
        self._sweeper = sweeper

    def go(self, bounds: Bounds, *, request: str = "") -> JsonObject:
        """Go on where the last round has stopped; return how many repairs there were by kind.

        Raises NotSwept at the end, which names the mandates that could not be swept; Conflict in a
        process that knows no mandates.
        """
        if self._places is None or self._marks is None:
            raise _placeless()
        platform = of_platform(request=request)
        begin = self._marks.read(platform)
        round_ = _Round(self._places, self._sweeper, bounds, request)
        end = round_.whole(begin)
        if end != begin:
            self._marks.write(platform, end)
        round_.check()
        return round_.counts()

    def everywhere(self, *, request: str = "") -> Iterator[Scope]:
        """Yield the platform's scope at every instance of every active mandate."""
        if self._places is None:
            raise _placeless()
        for mandate in mandates(self._places, None, request):
            scope = of_platform(mandate, request=request)
            yield from (scope.at(instance) for instance in self._places.instances(scope))


class _Round:
    """One of them, and what has come of it so far."""

    def __init__(self, places: Places, sweeper: Sweeper, bounds: Bounds, request: str) -> None:
        self._places = places
        self._sweeper = sweeper
        self._bounds = bounds
        self._request = request
        self._counts: Counter[str] = Counter()
        self._failed: list[MandateId] = []

    def whole(self, begin: Mark | None) -> Mark | None:
        """Go from `begin` to the end and from the start to there; return where it stops, if so."""
        for mandate in self._from(begin):
            mark = begin if begin is not None and begin.mandate == mandate else None
            stopped = self._mandate(mandate, mark)
            if stopped is not None:
                return stopped
        return None

    def counts(self) -> JsonObject:
        """Return how many repairs there were by kind."""
        return {name: self._counts[name] for name in KINDS}

    def check(self) -> None:
        """Raise NotSwept if there are mandates that could not be swept."""
        if self._failed:
            raise NotSwept(
                f"These mandates could not be swept: {', '.join(self._failed)}.",
                remedy="The log has the reason of each. Others were swept.",
            )

    def _from(self, begin: Mark | None) -> Iterator[MandateId]:
        if begin is None:
            yield from mandates(self._places, None, self._request)
            return
        yield begin.mandate
        yield from mandates(self._places, begin.mandate, self._request)
        for mandate in mandates(self._places, None, self._request):
            if mandate >= begin.mandate:
                return
            yield mandate

    def _mandate(self, mandate: MandateId, begin: Mark | None) -> Mark | None:
        """Sweep a mandate's instances from `begin` on; return where it stops, if before its end."""
        if self._over:
            return begin or Mark(mandate=mandate, instance=NO_INSTANCE)
        scope = of_platform(mandate, request=self._request)
        with self._noting(mandate):
            for instance in self._places.instances(scope):
                if begin is not None and instance < begin.instance:
                    continue
                if self._over:
                    return Mark(mandate=mandate, instance=instance)
                here = begin is not None and instance == begin.instance
                rest = self._instance(scope.at(instance), begin.since if begin and here else None)
                if rest is not None:
                    return Mark(mandate=mandate, instance=instance, since=rest)
        return None

    def _instance(self, scope: Scope, since: datetime | None) -> datetime | None:
        """Sweep an instance; return the start of the first run that was not looked at, if any."""
        left = self._bounds.limit - self._counts.total()
        deadline = self._bounds.deadline
        with self._noting(scope.mandate):
            swept = self._sweeper.sweep(scope, limit=left, since=since, deadline=deadline)
            self._counts.update({name: getattr(swept, name) for name in KINDS})
            return swept.rest
        return None

    @contextmanager
    def _noting(self, mandate: MandateId) -> Iterator[None]:
        """Let nothing out that is wrong with the mandate: what else there is must be swept too."""
        try:
            yield
        except Exception:
            LOG.exception("mandate %s could not be swept", mandate)
            if mandate not in self._failed:
                self._failed.append(mandate)

    @property
    def _over(self) -> bool:
        return self._bounds.deadline.remaining <= 0 or self._counts.total() >= self._bounds.limit


def mandates(places: Places, after: MandateId | None, request: str) -> Iterator[MandateId]:
    """Yield the ids of all mandates behind `after`, in their order."""
    platform = of_platform(request=request)
    while True:
        found = places.mandates(platform, after=after, limit=_TOGETHER)
        yield from found
        if len(found) < _TOGETHER:
            return
        after = found[-1]


def _placeless() -> Conflict:
    return Conflict("this process knows no mandates", remedy="Build its services by bootstrap.")
