"""Drawn workflows, compiled and run, do what the reference says."""

from __future__ import annotations

import shlex
from collections import Counter
from pathlib import Path

import pytest

from stellwerk.workflows.compile import CompileOptions
from stellwerk.workflows.graph import Graph
from tests.proof import alone, local, whole
from tests.proof.alone import Case
from tests.proof.exploring import Disagreement, explore
from tests.proof.sketch import draw, each, repeat, step

pytestmark = pytest.mark.no_cover  # thousands of runs; the code has tests of its own
PARTS = 4
GRAPHS = 500 // PARTS
ALONE = 640 // PARTS
"""More where it is cheap: what a seed draws changes with the constants in our sources."""
ON_MOTO = 80
SOAK = 20_000
SOAK_PARTS = 40
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
    frugal = whole.Frugal(SMALL)
    return alone.run(case, machines, order) or whole.run(case, order, frugal)


def _whole(case: Case, order: int, found: Counter[str]) -> list[str]:
    return whole.run(case, order)


def _assert_seen(found: Counter[str], least: dict[str, int]) -> None:
    missing = {name: (found[name], least[name]) for name in least if found[name] < least[name]}
    assert not missing, f"too few of (found, wanted): {missing}"
    assert found["over budget"] + found["ambiguous"] <= found["graphs"] * 0.05


@pytest.mark.parametrize("part", range(PARTS))
def test_compiled_machines_agree_with_the_reference_in_any_order(part: int) -> None:
    found = explore(_alone, graphs=ALONE, start=part, name=f"alone-{part}")
    _assert_seen(found, LEAST | {"gates": 20, "rolled over": 20})


def test_machines_whose_loops_are_rolled_over_agree_with_the_reference() -> None:
    found = explore(_rolled_over, graphs=GRAPHS, start=1_000, name="rolled-over")
    assert found["rolled over"] >= 40


def test_a_rolled_over_loop_keeps_to_its_concurrency() -> None:
    loop = each("l", 12, concurrency=2)
    drawn = draw("t>l b>d", loop, step("b", parent="l"), step("d", parent="l"))
    case = alone.case(drawn, whole.catalogue())
    machines = alone.compiled(case, CompileOptions(events=200))
    assert machines.children
    assert not any(alone.run(case, machines, order) for order in range(10))


def test_loops_nested_five_deep_are_rolled_over() -> None:
    loops = [repeat("w0", 2)]
    loops += [repeat(f"w{depth}", 2, parent=f"w{depth - 1}") for depth in range(1, 5)]
    for loop in loops:
        loop.limit = None
    case = alone.case(draw("t>w0", *loops, step("b", parent="w4")), whole.catalogue())
    machines = alone.compiled(case)
    assert len(machines.children) == 3
    assert alone.run(case, machines, 0) == []


def test_a_disagreement_leaves_the_smallest_workflow_as_a_file_to_run(tmp_path: Path) -> None:
    def compare(case: Case, order: int, found: Counter[str]) -> list[str]:
        joins = [node for node in case.graph.nodes if len(case.graph.incoming[node.key]) > 1]
        return ["a join"] if joins else []

    with pytest.raises(Disagreement) as raised:
        explore(compare, graphs=50, start=0, name="joined", folder=tmp_path)
    command = shlex.split(str(raised.value).splitlines()[0])
    graph = Graph.model_validate_json(Path(command[2]).read_bytes())
    assert command[:2] == ["stellwerk", "run"]
    assert Path(command[4].removeprefix("@")).exists()
    assert len(graph.nodes) <= 4


@pytest.mark.parametrize("part", range(PARTS))
def test_the_whole_stack_agrees_with_the_reference(part: int) -> None:
    found = explore(_whole, graphs=GRAPHS, start=2_000 + part, name=f"whole-{part}")
    _assert_seen(found, LEAST)


@pytest.mark.parametrize("part", range(PARTS))
def test_the_local_cloud_agrees_with_the_reference(part: int) -> None:
    """On moto, slower by an order of magnitude: a part of the workflows."""
    with local.cloud() as services:

        def compare(case: Case, order: int, found: Counter[str]) -> list[str]:
            return local.run(services, case)

        found = explore(compare, graphs=ON_MOTO // PARTS, start=3_000 + part, name=f"moto-{part}")
    _assert_seen(found, {name: count // 10 for name, count in LEAST.items()})


@pytest.mark.soak
@pytest.mark.parametrize("part", range(SOAK_PARTS))
def test_twenty_thousand_workflows_agree_with_the_reference(part: int) -> None:
    """Each alone, rolled over, and on the whole stack; one in 20 on the local cloud as well."""
    with local.cloud() as services:

        def compare(case: Case, order: int, found: Counter[str]) -> list[str]:
            wrong = _alone(case, order, found) or _whole(case, order, found)
            if not wrong and order % 20 == 0:
                wrong = local.run(services, case)
            return wrong

        graphs = SOAK // SOAK_PARTS
        found = explore(compare, graphs=graphs, start=10_000 + part, name=f"soak-{part}")
    _assert_seen(found, {name: count * graphs // GRAPHS for name, count in LEAST.items()})


@pytest.mark.soak
@pytest.mark.parametrize("part", range(SOAK_PARTS))
def test_thousands_of_workflows_with_rolled_over_loops_agree(part: int) -> None:
    graphs = SOAK // SOAK_PARTS // 4
    explore(_rolled_over, graphs=graphs, start=20_000 + part, name=f"soak-rolled-over-{part}")
