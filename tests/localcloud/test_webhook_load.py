"""Many callers deliver to a webhook by HTTP, some of them twice: none is lost, none runs twice."""

from __future__ import annotations

from collections import defaultdict
from pathlib import Path

import pytest

from benchmarks.callers import called
from benchmarks.served import served
from benchmarks.triggers import CALLERS, REPEATS, counted, hooked


def deliver(folder: Path, deliveries: int) -> None:
    """Let callers deliver, a fifth of it twice, and hold what came of it to what they sent."""
    with served(folder, kept=False) as api:
        anna = api.caller("u-demo")
        url, workflow = hooked(anna)
        taken = called(url, callers=CALLERS, deliveries=deliveries, repeats=REPEATS)
        runs = counted(anna, workflow)
        anna.connection.close()
    assert {each.status for each in taken} == {202}
    assert len(taken) == deliveries
    answered: dict[int, set[str]] = defaultdict(set)
    for each in taken:
        answered[each.delivery].add(each.run)
    assert [len(named) for named in answered.values()] == [1] * len(answered)
    assert len({*map(frozenset, answered.values())}) == len(answered) == runs
    assert runs == deliveries - int(deliveries * REPEATS)


def test_no_delivery_is_lost_and_none_starts_two_runs(tmp_path: Path) -> None:
    deliver(tmp_path, 200)


@pytest.mark.soak
def test_of_two_thousand_deliveries_none_is_lost_and_none_starts_two_runs(tmp_path: Path) -> None:
    deliver(tmp_path, 2000)
