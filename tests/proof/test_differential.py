"""Drawn workflows, compiled and run, do what the reference says."""

from __future__ import annotations

from collections import Counter

import pytest

from stellwerk.workflows.compile import CompileOptions
from tests.proof import alone, whole
from tests.proof.alone import Case
from tests.proof.exploring import explore

PARTS = 4
GRAPHS = 500 // PARTS
ORDERS = 2
SMALL = 1_500
"""History events that a machine may spend, so that loops are rolled over to child machines."""
LEAST = {
    "step": 400,
    "switch": 150,
    "if": 60,
    "approval": 70,
    "delay": 25,
    "each": 70,
    "while": 45,
    "stop": 30,
    "fork": 200,
    "join": 250,
    "dead end": 250,
    "error port": 50,
    "nested loop": 60,
    "wait in a loop": 45,
    "wait in a branch": 45,
    "several triggers": 8,
    "disabled": 4,
    "over 30 nodes": 12,
    "completed": 80,
    "failed": 12,
}
"""How often each construct must have occurred in one part."""


def _alone(case: Case, order: int, found: Counter[str]) -> list[str]:
    machines = alone.compiled(case)
    found.update({"gates": len(machines.gated), "rolled over": len(machines.children)})
    for number in range(ORDERS):
        wrong = alone.run(case, machines, order + number)
        wrong += alone.run_undecided(case, machines, order + number)
        if wrong:
            return wrong
    return []


def _rolled_over(case: Case, order: int, found: Counter[str]) -> list[str]:
    machines = alone.compiled(case, CompileOptions(events=SMALL))
    found["rolled over"] += len(machines.children)
    return alone.run(case, machines, order)


def _whole(case: Case, order: int, found: Counter[str]) -> list[str]:
    return whole.run(case, order)


def _assert_seen(found: Counter[str], least: dict[str, int]) -> None:
    missing = {name: (found[name], least[name]) for name in least if found[name] < least[name]}
    assert not missing, f"too few of (found, wanted): {missing}"
    assert found["over budget"] + found["ambiguous"] <= found["graphs"] * 0.05


@pytest.mark.parametrize("part", range(PARTS))
def test_compiled_machines_agree_with_the_reference_in_any_order(part: int) -> None:
    found = explore(_alone, graphs=GRAPHS, start=part, name=f"alone-{part}")
    _assert_seen(found, LEAST | {"gates": 20, "rolled over": 20})


def test_machines_whose_loops_are_rolled_over_agree_with_the_reference() -> None:
    found = explore(_rolled_over, graphs=GRAPHS, start=1_000, name="rolled-over")
    assert found["rolled over"] >= 40


@pytest.mark.parametrize("part", range(PARTS))
def test_the_whole_stack_agrees_with_the_reference(part: int) -> None:
    found = explore(_whole, graphs=GRAPHS, start=2_000 + part, name=f"whole-{part}")
    _assert_seen(found, LEAST)


@pytest.mark.soak
@pytest.mark.parametrize("part", range(40))
def test_twenty_thousand_workflows_agree_with_the_reference(part: int) -> None:
    def both(case: Case, order: int, found: Counter[str]) -> list[str]:
        return _alone(case, order, found) or _whole(case, order, found)

    found = explore(both, graphs=500, start=10_000 + part, name=f"soak-{part}")
    _assert_seen(found, {name: count * 3 for name, count in LEAST.items()})
