"""The compiler alone: its machines on the fast interpreter, with stand-ins for the Lambdas."""

from __future__ import annotations

import json
import random
from dataclasses import dataclass

from stellwerk.catalogue.model import Catalogue
from stellwerk.kernel.ids import ROOT, NodeKey, Path
from stellwerk.kernel.json import JsonObject, JsonValue
from stellwerk.tenancy.scope import seeded
from stellwerk.workflows.compile import Compiled, CompileOptions, compile_graph
from stellwerk.workflows.graph import Graph
from tests.proof.differential import Observed, differences
from tests.proof.outcome import Outcome
from tests.proof.sketch import Sketch
from tests.proof.standin import StandIn
from tests.proof.vocabulary import behaviour, graph, payload, undecided
from tests.proof.world import World
from tests.reference import Reference

_DAY = 86_400


@dataclass(frozen=True)
class Case:
    """A workflow with what is to be known about it."""

    drawn: Sketch
    graph: Graph
    catalogue: Catalogue
    expected: Outcome


def case(drawn: Sketch, catalogue: Catalogue) -> Case:
    """Return the workflow with what the reference says about it."""
    drawn_graph = graph(drawn)
    reference = Reference(drawn_graph, catalogue, behaviour(drawn))
    return Case(drawn, drawn_graph, catalogue, reference.run(drawn.start, payload(drawn)))


def compiled(case: Case, options: CompileOptions | None = None) -> Compiled:
    """Return its machines."""
    return compile_graph(case.graph, case.catalogue, options or CompileOptions())


def run(case: Case, machines: Compiled, seed: int) -> list[str]:
    """Run it in the order of events that `seed` gives; return what was wrong.

    Raises:
        Hang: something waits for ever.
        Defect: a node was called twice, too early, or although it is dead.
    """
    lambdas, world, arn = _started(case, machines, seed)
    world.run(lambdas.decide)
    return [*differences(case.expected, _observed(lambdas, world, arn)), *lambdas.overlaps()]


def run_undecided(case: Case, machines: Compiled, seed: int) -> list[str]:
    """Run it with no person deciding; return the nodes that waited for what does not concern them.

    Only where nothing fails: else what runs is unspecified.
    """
    if case.expected.failed:
        return []
    lambdas, world, _ = _started(case, machines, seed)
    world.settle(_DAY)
    reference = Reference(case.graph, case.catalogue, undecided(case.drawn))
    due = reference.run(case.drawn.start, payload(case.drawn)).ran
    return [f"{place} was kept waiting" for place in sorted(due) if place not in lambdas.ran]


def _started(case: Case, machines: Compiled, seed: int) -> tuple[StandIn, World, str]:
    lambdas = StandIn(
        graph=case.graph,
        catalogue=case.catalogue,
        behaviour=behaviour(case.drawn),
        trigger=case.drawn.start,
        payload=payload(case.drawn),
        watch=machines.watch,
    )
    world = World(lambdas, random.Random(seed))
    lambdas.attach(world)
    lambdas.chunk_machines = {
        loop: world.create(seeded(), f"child-{loop}", text)
        for loop, text in machines.children.items()
    }
    main = world.create(seeded(), "main", machines.definition)
    data: JsonObject = {"run": {"id": "run"}, "trigger": case.drawn.start}
    return lambdas, world, world.start(seeded(), main, "run-g1", data)


def _observed(lambdas: StandIn, world: World, arn: str) -> Observed:
    execution = world.executions[arn]
    completed = execution.status == "SUCCEEDED"
    output: JsonValue = lambdas.stopped[0] if lambdas.stopped else lambdas.ends(None, ROOT)
    error = None
    if not completed:
        path, node = _cause(execution.cause)
        error = (execution.error, (path, node))
    return Observed(completed, output, lambdas.ran, set(lambdas.failed), error)


def _cause(cause: str) -> tuple[Path, NodeKey]:
    try:
        path, node, _ = json.loads(cause)
    except ValueError:
        return Path("?"), NodeKey(cause)
    return Path(path), NodeKey(node)
