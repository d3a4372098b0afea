"""When a schedule is due: its slots, calculated from its parameters alone.

A slot is a moment in UTC. The rules where clocks are changed: a time of the wall clock that occurs
twice is one slot, the first; one that does not occur is due when the clock goes on after the gap,
or not at all. Of a cron whose hours begin with a star such times are left out: it is due often.
Intervals keep real time: they are due at the multiples of their length since 1970, in UTC.
"""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from itertools import islice
from zoneinfo import ZoneInfo

from cronsim import CronSim

from stellwerk.triggers.schedules.cron import Cron
from stellwerk.triggers.schedules.timing import Timing, exists

EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_MINUTE = timedelta(minutes=1)
_LATEST = datetime(9990, 1, 1, tzinfo=UTC)


def next_times(timing: Timing, after: datetime, n: int) -> list[datetime]:
    """Return the first `n` slots later than `after`; fewer where there are no more."""
    return list(islice(times(timing, after), n))


def times(timing: Timing, after: datetime) -> Iterator[datetime]:
    """Yield the slots later than `after`, in order."""
    if after > _LATEST:
        return
    if timing.cron is not None:
        yield from _by_cron(timing, timing.cron, after)
    elif timing.interval is not None:
        slot = EPOCH + ((after - EPOCH) // timing.interval + 1) * timing.interval
        while True:
            yield slot
            slot += timing.interval
    elif timing.at is not None:
        slot = resolved(timing.at, timing.zone)
        if slot > after:
            yield slot


def slot_of(timing: Timing, fired: datetime) -> datetime | None:
    """Return the slot for which the Scheduler has fired at `fired`; None: there is none.

    Half a minute is forgiven, and an interval that does not begin where ours does.
    """
    moment = EPOCH + ((fired + _MINUTE / 2 - EPOCH) // _MINUTE) * _MINUTE
    if timing.interval is not None:
        return EPOCH + ((moment - EPOCH) // timing.interval) * timing.interval
    wall = moment.astimezone(timing.zone).replace(tzinfo=None)
    first = resolved(wall, timing.zone)
    found = next(times(timing, first - _MINUTE), None)
    return found if found == first else None


def shown(slot: datetime, zone: ZoneInfo) -> str:
    """Return a slot as the wall clock shows it, with its UTC offset."""
    return slot.astimezone(zone).isoformat(timespec="seconds")


def resolved(wall: datetime, zone: ZoneInfo) -> datetime:
    """Return the moment at which the wall clock shows `wall` first, or goes on after the gap."""
    moment = wall.replace(tzinfo=zone, fold=0).astimezone(UTC)
    return moment if exists(wall, zone) else _end_of_gap(wall, zone)


def gap_ended(zone: ZoneInfo, since: datetime, until: datetime) -> bool:
    """Say whether the wall clock was put forward after `since` and not after `until`."""
    before = since.astimezone(zone).utcoffset() or timedelta()
    step = since
    while step < until:
        step = min(until, step + timedelta(hours=6))
        after = step.astimezone(zone).utcoffset() or timedelta()
        if after > before:
            return True
        before = after
    return False


def _by_cron(timing: Timing, cron: Cron, after: datetime) -> Iterator[datetime]:
    local = after.astimezone(timing.zone).replace(tzinfo=None, fold=0)
    last = after
    for wall in CronSim(cron.text, local):
        if wall.year > _LATEST.year:
            return
        if not exists(wall, timing.zone) and not (cron.fixed and timing.nonexistent == "run_after"):
            continue
        slot = resolved(wall, timing.zone)
        if slot > last:
            yield slot
            last = slot


def _end_of_gap(wall: datetime, zone: ZoneInfo) -> datetime:
    """Return when the gap ends that `wall` is in: the first minute at the new offset."""
    sides = (wall.replace(tzinfo=zone, fold=fold).astimezone(UTC) for fold in (0, 1))
    low, high = sorted((side - EPOCH) // _MINUTE for side in sides)
    new = _offset(high, zone)
    while high - low > 1:
        middle = (low + high) // 2
        if _offset(middle, zone) == new:
            high = middle
        else:
            low = middle
    return EPOCH + high * _MINUTE


def _offset(minutes: int, zone: ZoneInfo) -> timedelta | None:
    return (EPOCH + minutes * _MINUTE).astimezone(zone).utcoffset()
