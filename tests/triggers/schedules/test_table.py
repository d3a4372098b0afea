"""200 expressions in 12 zones, where clocks are changed, on leap days and at the ends of years.

What is due is compared with a calendar walked minute by minute (`wallclock`); what is registered
at the Scheduler is read by an evaluator of its own, and must fire at the same moments.
"""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime, timedelta
from functools import cache
from itertools import pairwise, takewhile
from pathlib import Path
from zoneinfo import ZoneInfo

import pytest

from stellwerk.triggers.schedules.expressions import expressions_of
from stellwerk.triggers.schedules.occurrences import gap_ended, slot_of, times
from stellwerk.triggers.schedules.timing import Timing, read_schedule
from tests.triggers.schedules.wallclock import MINUTE, Wall, due, scheduled, utc

EXPRESSIONS = (Path(__file__).parent / "expressions.txt").read_text(encoding="utf-8").splitlines()
ZONES = (
    *("UTC", "Europe/Zurich", "Europe/London", "America/New_York", "America/St_Johns"),
    *("America/Santiago", "Africa/Cairo", "Asia/Kathmandu", "Australia/Sydney"),
    *("Australia/Lord_Howe", "Pacific/Chatham", "America/Sao_Paulo"),
)
"""Among them clocks that are changed at midnight, by half an hour, and in the other half-year."""
ALWAYS = (("2028-02-28T06:00", "2028-03-01T12:00"), ("2026-12-31T06:00", "2027-01-01T18:00"))
CHANGES = {
    "Europe/Zurich": ("2026-03-29T01:00", "2026-10-25T01:00"),
    "Europe/London": ("2026-03-29T01:00", "2026-10-25T01:00"),
    "America/New_York": ("2026-03-08T07:00", "2026-11-01T06:00"),
    "America/St_Johns": ("2026-03-08T05:30", "2026-11-01T04:30"),
    "America/Santiago": ("2026-09-06T04:00", "2026-04-05T03:00"),
    "Africa/Cairo": ("2026-04-23T22:00", "2026-10-29T21:00"),
    "Australia/Sydney": ("2026-10-03T16:00", "2026-04-04T16:00"),
    "Australia/Lord_Howe": ("2026-10-03T15:30", "2026-04-04T15:00"),
    "Pacific/Chatham": ("2026-09-26T14:00", "2026-04-04T14:00"),
}
AROUND = timedelta(hours=13)


@cache
def walls(zone: str) -> tuple[Wall, ...]:
    return tuple(Wall(ZoneInfo(zone), begin, end) for begin, end in _windows(zone))


def _windows(zone: str) -> Iterator[tuple[datetime, datetime]]:
    for begin, end in ALWAYS:
        yield utc(begin), utc(end)
    for change in CHANGES.get(zone, ()):
        yield utc(change) - AROUND, utc(change) + AROUND


def timing(cron: str, zone: str, nonexistent: str = "run_after") -> Timing:
    return read_schedule({"cron": cron, "zone": zone, "nonexistent": nonexistent}).timing


def within(found: Iterator[datetime], wall: Wall) -> list[datetime]:
    return list(takewhile(lambda moment: moment <= wall.end, found))


def test_there_are_200_expressions_in_12_zones() -> None:
    assert len(EXPRESSIONS) == len(set(EXPRESSIONS)) == 200
    assert len(set(ZONES)) == 12
    changed = [wall for zone in ZONES for wall in walls(zone) if wall.left_out]
    assert len(changed) == len(CHANGES)


@pytest.mark.parametrize("zone", ZONES)
def test_what_is_due_is_what_the_calendar_says(zone: str) -> None:
    for expression in EXPRESSIONS:
        plain, schedule = due(expression), timing(expression, zone)
        for wall in walls(zone):
            wanted = set(plain.moments(wall, after_gaps=True)) - {wall.begin}
            found = within(times(schedule, wall.begin), wall)
            assert found == sorted(wanted), f"{expression} in {zone} from {wall.begin}"


@pytest.mark.parametrize("zone", ZONES)
def test_what_is_registered_fires_at_what_is_due_save_after_gaps(zone: str) -> None:
    for expression in EXPRESSIONS:
        schedule = timing(expression, zone)
        registered = expressions_of(schedule)
        assert 1 <= len(registered) <= 2
        assert {one.zone for one in registered} == {zone}
        for wall in walls(zone):
            fired = {
                moment
                for one in registered
                for moment in scheduled(one.text).moments(wall, after_gaps=False)
            }
            wanted = set(due(expression).moments(wall, after_gaps=False))
            assert fired == wanted, f"{expression} in {zone} from {wall.begin}"
            for moment in sorted(fired - {wall.begin})[:3]:
                assert slot_of(schedule, moment) == moment


@pytest.mark.parametrize("zone", CHANGES)
def test_where_it_is_to_be_skipped_nothing_is_due_after_a_gap(zone: str) -> None:
    for expression in EXPRESSIONS[20:60]:
        schedule = timing(expression, zone, "skip")
        for wall in walls(zone):
            wanted = set(due(expression).moments(wall, after_gaps=False)) - {wall.begin}
            assert within(times(schedule, wall.begin), wall) == sorted(wanted)


def test_a_day_of_either_kind_needs_two_schedules_and_no_other_does() -> None:
    two = [text for text in EXPRESSIONS if len(expressions_of(timing(text, "UTC"))) == 2]
    assert "0 12 1 * MON" in two
    assert "0 0 1-31 * MON" not in two
    for text in two:
        _, _, days, _, weekdays = text.split()
        assert days[0] != "*"
        assert weekdays[0] != "*"


@pytest.mark.parametrize("zone", ZONES)
def test_intervals_keep_real_time(zone: str) -> None:
    schedule = read_schedule({"interval": "every 15 minutes", "zone": zone}).timing
    for wall in walls(zone):
        found = within(times(schedule, wall.begin), wall)
        assert {after - before for before, after in pairwise(found)} == {15 * MINUTE}
        assert found[0] - wall.begin <= 15 * MINUTE


@pytest.mark.parametrize("zone", ZONES)
def test_it_is_known_in_which_time_a_clock_was_put_forward(zone: str) -> None:
    for wall in walls(zone):
        ends = {moment for missing in wall.left_out.values() for moment in missing.values()}
        assert gap_ended(wall.zone, wall.begin, wall.end) == bool(ends)
        for end in ends:
            assert gap_ended(wall.zone, end - MINUTE, end)
            assert not gap_ended(wall.zone, end, end + MINUTE)
