"""The whole stack, real Lambdas and journal, on the fast interpreter with stores in memory."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cache
from typing import Protocol, cast

from localcloud.functions import ByName
from stellwerk.catalogue.model import Catalogue
from stellwerk.catalogue.store import StoredCatalogue
from stellwerk.kernel.json import JsonObject, JsonValue, dumps
from stellwerk.runs.assembly import Assembly
from stellwerk.runs.blueprints import Blueprints
from stellwerk.runs.model import Run, StepStatus
from stellwerk.runs.values import Keeper
from stellwerk.runs.world import World as Stores
from stellwerk.tenancy.chain import ChainedAudit
from stellwerk.tenancy.scope import Scope, seeded
from stellwerk.workflows.compile import Compiled, CompileOptions, compile_graph
from stellwerk.workflows.compiler import GraphCompiler
from stellwerk.workflows.faults import Fault
from stellwerk.workflows.graph import Graph
from stellwerk.workflows.model import Reference
from stellwerk.workflows.ports import Resources
from stellwerk.workflows.press import Compiler, Press
from stellwerk.workflows.service import WorkflowService
from tests.fakes.audit import FakeAuditLog
from tests.fakes.journal import FakeJournal
from tests.fakes.key_values import FakeKeyValues
from tests.fakes.memory import Memory
from tests.fakes.platform import FakeActors
from tests.fakes.runs import FakeRuns
from tests.fakes.tasks import FakeTasks, FakeWaits
from tests.fakes.versions import FakeValues, FakeVersions
from tests.proof.alone import Case
from tests.proof.differential import differences
from tests.proof.journaled import journaled, pending
from tests.proof.scheduler import StateFailed
from tests.proof.standin import Defect
from tests.proof.vocabulary import decision, payload
from tests.proof.world import World

_FUNCTIONS = ByName()
_REPEATABLE = ("system-gate", "system-run_finished", "system-scope_closed")
_OPEN = {StepStatus.RUNNING, StepStatus.WAITING}


@cache
def catalogue() -> Catalogue:
    """Return the catalogue as shipped."""
    return StoredCatalogue()


class Handler(Protocol):
    """The entry of a node's or the system's Lambda, given its services."""

    def serve(self, event: JsonObject, context: object, bench: object) -> JsonValue:
        """Handle an invocation."""


@dataclass(frozen=True)
class Context:
    """What a Lambda learns about its call."""

    aws_request_id: str = "fast"

    def get_remaining_time_in_millis(self) -> int:
        """Return that there is much time."""
        return 900_000


@dataclass
class Bench:
    """All services over stores in memory, and the Lambdas that use them."""

    seed: int
    compiler: Compiler
    scope: Scope = field(default_factory=seeded)
    http_allow: tuple[str, ...] = ()
    calls: Counter[str] = field(default_factory=Counter)
    wrong: list[str] = field(default_factory=list)

    def __post_init__(self) -> None:
        memory, types = Memory(), catalogue()
        self.world = World(self.invoke, random.Random(self.seed))
        versions, values, tasks = FakeVersions(memory), FakeValues(memory), FakeTasks(memory)
        keeper = Keeper(values)
        self.key_values = FakeKeyValues(memory)
        self.assembly = Assembly.of(
            Stores(
                journal=FakeJournal(memory),
                runs=FakeRuns(memory),
                tasks=tasks,
                waits=FakeWaits(memory),
                due=tasks,
                executions=self.world,
                versions=versions,
                blueprints=Blueprints(versions, keeper),
                values=keeper,
                catalogue=types,
                clock=self.world,
                actors=FakeActors(),
            )
        )
        press = Press(
            versions=versions,
            machines=self.world,
            values=values,
            catalogue=types,
            compiler=self.compiler,
            clock=self.world,
            prefix="stellwerk",
            audit=ChainedAudit(FakeAuditLog(), self.world),
        )
        self.workflows = WorkflowService(press)

    def invoke(self, function: str, event: JsonObject) -> JsonValue:
        """Call a Lambda."""
        self._note(function.removeprefix("stellwerk-"), event)
        handler = cast(Handler, _FUNCTIONS.find(function).handler)
        bench: object = self.assembly if function.startswith("stellwerk-system-") else self
        try:
            return handler.serve(event, Context(), bench)
        except Defect:
            raise
        except Exception as error:
            cause: JsonObject = {"errorType": type(error).__name__, "errorMessage": str(error)}
            raise StateFailed(type(error).__name__, dumps(cause)) from error

    def _note(self, function: str, event: JsonObject) -> None:
        if function in _REPEATABLE or event.get("phase") == "resume":
            return
        names = ("path", "node", "phase", "index", "chunk")
        run = event["run"]
        assert isinstance(run, dict)
        call = " ".join([function, str(run["id"]), *(str(event.get(name, "")) for name in names)])
        self.calls[call] += 1
        if self.calls[call] > 1:
            self.wrong.append(f"called twice: {call}")


@dataclass(frozen=True)
class Frugal:
    """The compiler with another limit of history events, so that loops are rolled over."""

    events: int

    def check(self, graph: Graph, catalogue: Catalogue, resources: Resources) -> Sequence[Fault]:
        """Return all that is wrong with `graph`."""
        return GraphCompiler().check(graph, catalogue, resources)

    def compile(self, graph: Graph, catalogue: Catalogue, *, prefix: str, comment: str) -> Compiled:
        """Return the machines; raises OverBudget."""
        options = CompileOptions(prefix=prefix, comment=comment, events=self.events)
        return compile_graph(graph, catalogue, options)

    def references(self, graph: Graph, catalogue: Catalogue) -> Sequence[Reference]:
        """Return what the graph names outside of itself."""
        return GraphCompiler().references(graph, catalogue)


def run(case: Case, seed: int, compiler: Compiler | None = None) -> list[str]:
    """Publish and run a workflow in the order of events that `seed` gives; return what was wrong.

    Raises InvalidGraph and OverBudget as publishing does, and Hang.
    """
    bench = Bench(seed, compiler or GraphCompiler())
    workflow, _ = bench.workflows.publish(bench.scope, case.graph)
    started = bench.assembly.runs.start(
        bench.scope, workflow.id, trigger=case.drawn.start, payload=payload(case.drawn)
    )
    bench.world.run(lambda: _decide(bench, case, started))
    observed = journaled(bench.assembly, case, started, wrong=bench.wrong)
    return differences(case.expected, observed)


def _decide(bench: Bench, case: Case, started: Run) -> bool:
    tasks = pending(bench.assembly, started)
    if not tasks:
        return False
    task = bench.world.random.choice(tasks)
    port = decision(case.drawn, task.node, task.path)
    bench.assembly.tasks.decide(bench.scope, task.id, port)
    return True
