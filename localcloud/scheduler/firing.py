"""Fires the schedules that moto keeps: calls their function when they are due."""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from datetime import UTC, datetime

from moto.scheduler.models import EventBridgeSchedulerBackend, Schedule

from localcloud.functions import FunctionNotFound
from localcloud.lambdas import Lambdas, Result
from localcloud.scheduler.expressions import Cron, InvalidExpression, Once, Rate, read
from localcloud.workers import Workers

LOG = logging.getLogger(__name__)

SCHEDULED = "<aws.scheduler.scheduled-time>"
LOOK = 0.25
"""Seconds between two looks: how late a schedule may fire."""
PAUSES = (0.2, 1.0, 5.0, 30.0)
"""Seconds before each further try of a call that failed; AWS tries for a day."""


@dataclass
class _Watched:
    """A schedule as it was looked at, and when it is due."""

    changed: float
    expression: Rate | Once | Cron | None
    due: datetime | None


class LocalScheduler:
    """Looks at the schedules, and fires those that are due.

    Those that the first look finds are due from `since` on, the start of the cloud; all others from
    when they were made or changed.
    """

    def __init__(
        self,
        backend: EventBridgeSchedulerBackend,
        lambdas: Lambdas,
        workers: Workers,
        since: datetime,
        *,
        now: Callable[[], datetime] = lambda: datetime.now(UTC),
    ) -> None:
        self._backend = backend
        self._lambdas = lambdas
        self._workers = workers
        self._since: datetime | None = since
        self._now = now
        self._watched: dict[tuple[str, str], _Watched] = {}
        self._ended = threading.Event()
        self._thread = threading.Thread(
            target=self._watch, name="localcloud-scheduler", daemon=True
        )

    def start(self) -> None:
        """Begin to look."""
        self._thread.start()

    def stop(self) -> None:
        """Fire nothing any more; calls that have begun are not waited for."""
        self._ended.set()
        if self._thread.ident is not None:
            self._thread.join()

    def look(self) -> int:
        """Fire what is due now; return how many schedules that were."""
        now, fired = self._now(), 0
        seen = set()
        for schedule in self._schedules():
            place = schedule.group_name, schedule.name
            seen.add(place)
            watched = self._watched.get(place)
            if watched is None or watched.changed != schedule.last_modified_date:
                self._watched[place] = watched = _watched(schedule, self._since)
            fired += self._fire_due(schedule, watched, now)
        self._since = None
        for place in self._watched.keys() - seen:
            del self._watched[place]
        return fired

    def _watch(self) -> None:
        while not self._ended.wait(LOOK):
            try:
                self.look()
            except Exception:
                LOG.exception("the schedules could not be looked at")

    def _schedules(self) -> Iterator[Schedule]:
        for group in list(self._backend.schedule_groups.values()):
            yield from list(group.schedules.values())

    def _fire_due(self, schedule: Schedule, watched: _Watched, now: datetime) -> int:
        fired = 0
        while watched.due is not None and watched.due <= now and watched.expression is not None:
            if schedule.state != "DISABLED":  # None after a change that says nothing of it
                self._call(schedule, watched.due)
                fired += 1
            watched.due = watched.expression.after(watched.due)
        if watched.due is None and schedule.action_after_completion == "DELETE":
            group = self._backend.schedule_groups[schedule.group_name]
            group.schedules.pop(schedule.name, None)
        return fired

    def _call(self, schedule: Schedule, due: datetime) -> None:
        at = due.isoformat(timespec="seconds").replace("+00:00", "Z")
        payload = schedule.target.get("Input", "{}").replace(SCHEDULED, at)
        function = schedule.target["Arn"]
        self._workers.run(lambda: self._tries(schedule.name, function, payload))

    def _tries(self, name: str, function: str, payload: str) -> None:
        for pause in (*PAUSES, None):
            try:
                result = self._lambdas.invoke(function, payload)
            except FunctionNotFound:
                LOG.exception("schedule %s calls a function that is not there", name)
                return
            if not result.failed or pause is None or self._ended.wait(pause):
                _report(name, result)
                return


def _report(name: str, result: Result) -> None:
    if result.failed:
        LOG.error("schedule %s was given up: %s", name, result.payload)


def _watched(schedule: Schedule, since: datetime | None) -> _Watched:
    changed, zone = schedule.last_modified_date, schedule.schedule_expression_timezone
    start = schedule.start_date if schedule.start_date is not None else schedule.creation_date
    begin = _moment(float(start))
    try:
        expression = read(schedule.schedule_expression, zone, begin)
    except InvalidExpression:
        LOG.exception("schedule %s never fires", schedule.name)
        return _Watched(changed, None, None)
    return _Watched(changed, expression, expression.after(since or _moment(changed)))


def _moment(seconds: float) -> datetime:
    return datetime.fromtimestamp(seconds, UTC)
