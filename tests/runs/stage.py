"""A world in memory with published workflows, on which the tests of run services play."""

from __future__ import annotations

import threading
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta

from stellwerk.catalogue.model import Effect, Kind, NodeType
from stellwerk.kernel.errors import StellwerkError
from stellwerk.kernel.ids import ROOT, NodeKey, Path, RunId, WorkflowId
from stellwerk.kernel.json import JsonObject, JsonValue
from stellwerk.kernel.records import Stored
from stellwerk.runs.asking import Question
from stellwerk.runs.assembly import Assembly
from stellwerk.runs.blueprints import Blueprints
from stellwerk.runs.calls import RunRef
from stellwerk.runs.gates import Level
from stellwerk.runs.model import Attempt, Failure, HumanTask, Run, Step, StepKey, StepStatus
from stellwerk.runs.names import run_ref
from stellwerk.runs.platform import Actors, Places
from stellwerk.runs.world import World
from stellwerk.tenancy.scope import SEEDED_INSTANCE, SEEDED_MANDATE, Scope, of_run, seeded
from stellwerk.workflows.graph import Graph, graph_hash
from stellwerk.workflows.model import Version, VersionStatus, Workflow
from tests.contracts.stores import Stores, in_memory
from tests.fakes.clock import FixedClock
from tests.fakes.executions import FakeExecutions
from tests.fakes.memory import Memory
from tests.fakes.people import FakeDeputies, FakeGuests, FakeNotices, FakeUploads
from tests.fakes.platform import FakeActors, FakeMarks, FakePlaces

FOREIGN = of_run("m-other", "i-other", "u-other")


def node_type(
    name: str,
    kind: Kind = Kind.STEP,
    *,
    ports: tuple[str, ...] = ("out",),
    effect: Effect = Effect.READ,
    extra: JsonObject | None = None,
) -> NodeType:
    return NodeType(
        type=name,
        kind=kind,
        title=name,
        description="",
        effect=effect,
        idempotent=False,
        ports=ports,
        retry=(),
        timeout=10,
        parameters={},
        result={},
        handler="",
        extra=extra or {},
    )


@dataclass(frozen=True)
class Types:
    """A small catalogue."""

    known: dict[str, NodeType]

    def find(self, name: str) -> NodeType | None:
        return self.known.get(name)

    def types(self) -> tuple[NodeType, ...]:
        return tuple(self.known[name] for name in sorted(self.known))


CATALOGUE = Types(
    {
        found.type: found
        for found in (
            node_type("trigger.manual", Kind.TRIGGER),
            node_type("trigger.called", Kind.TRIGGER),
            node_type("data.set"),
            node_type("mail.send", effect=Effect.WRITE),
            node_type(
                "http.request",
                effect=Effect.WRITE,
                extra={"repeatable_when": {"method": ["GET"]}},
            ),
            node_type("flow.if", ports=("true", "false")),
            node_type("flow.stop", Kind.STOP),
            node_type("flow.wait", Kind.DELAY),
            node_type("flow.for_each", Kind.FOR_EACH),
            node_type("flow.while", Kind.WHILE),
            node_type("flow.subworkflow", Kind.WAIT),
            node_type("input.approval", Kind.WAIT, ports=("approved", "rejected")),
        )
    }
)

_SHORT = {"trigger": "trigger.manual", "called": "trigger.called"}


def graph(nodes: Mapping[str, str | JsonObject], edges: Sequence[str] = ()) -> Graph:
    """Return a graph of `nodes` (type, or a whole node, by key) and edges such as `a.true b`."""
    listed = [
        {"key": key, **({"type": _SHORT.get(node, node)} if isinstance(node, str) else node)}
        for key, node in nodes.items()
    ]
    drawn = []
    for edge in edges:
        source, target = edge.split()
        key, _, port = source.partition(".")
        drawn.append({"from": key, "port": port or "out", "to": target})
    return Graph.model_validate({"nodes": listed, "edges": drawn})


@dataclass
class Stage:
    """The world, its services, and shortcuts for what tests do over and over."""

    memory: Memory = field(default_factory=Memory)
    clock: FixedClock = field(default_factory=FixedClock)
    executions: FakeExecutions = field(default_factory=FakeExecutions)
    scope: Scope = field(default_factory=seeded)
    stores: Stores | None = None
    """Other stores than those in memory."""
    places: Places = field(default_factory=lambda: FakePlaces({SEEDED_MANDATE: [SEEDED_INSTANCE]}))
    marks: FakeMarks = field(default_factory=FakeMarks)
    actors: Actors = field(default_factory=FakeActors)
    deputies: FakeDeputies = field(default_factory=FakeDeputies)
    guests: FakeGuests = field(default_factory=FakeGuests)
    uploads: FakeUploads = field(default_factory=FakeUploads)
    notices: FakeNotices | None = None
    """None: nobody is told anything."""

    def __post_init__(self) -> None:
        stores = self.stores or in_memory(self.memory)
        self.versions = stores.versions
        self.world = World(
            journal=stores.journal,
            runs=stores.runs,
            tasks=stores.tasks,
            waits=stores.waits,
            jobs=stores.jobs,
            due=stores.due,
            executions=self.executions,
            versions=stores.versions,
            blueprints=Blueprints(stores.versions, stores.keeper),
            values=stores.keeper,
            catalogue=CATALOGUE,
            clock=self.clock,
            places=self.places,
            marks=self.marks,
            actors=self.actors,
            deputies=self.deputies,
            guests=self.guests,
            uploads=self.uploads,
            notices=self.notices,
        )
        self.assembly = Assembly.of(self.world)

    def publish(
        self,
        drawn: Graph,
        *,
        slug: str = "demo",
        watch: JsonObject | None = None,
        status: VersionStatus = VersionStatus.PUBLISHED,
    ) -> WorkflowId:
        """Write `drawn` as the next version of workflow `slug`."""
        workflow = self.versions.find(self.scope, slug) or self._create(slug)
        number = workflow.latest + 1
        text = drawn.model_dump(mode="json", by_alias=True)
        version = Version(
            workflow=workflow.id,
            number=number,
            status=VersionStatus.DRAFT,
            graph=self.world.values.keep(self.scope, RunId("versions"), text),
            graph_hash=graph_hash(drawn),
            author=self.scope.user,
            created=self.clock.now(),
            machines={"": machine(f"{self.scope.mandate}-{slug}-v{number}")},
            plan={"watch": watch or {}},
        )
        workflow, version = self.versions.add(self.scope, workflow, version)
        if status is VersionStatus.PUBLISHED:
            self._publish(workflow, version)
        return workflow.id

    def _publish(self, workflow: Workflow, version: Version) -> None:
        """Publish a version that has its machine, as the service of workflows would."""
        published = {"status": VersionStatus.PUBLISHED, "first_published": self.clock.now()}
        moved = [version.model_copy(update=published)]
        if workflow.published:
            before = self.versions.get(self.scope, workflow.id, workflow.published)
            moved.append(before.model_copy(update={"status": VersionStatus.ARCHIVED}))
        named = workflow.model_copy(update={"published": version.number})
        self.versions.move(self.scope, named, *moved)

    def _create(self, slug: str) -> Workflow:
        workflow = Workflow(
            id=WorkflowId(f"w-{slug}"),
            title=slug,
            slug=slug,
            created_by=self.scope.user,
            created=self.clock.now(),
        )
        return self.versions.create(self.scope, workflow)

    def start(self, workflow: str = "demo", payload: JsonValue = None) -> Run:
        return self.assembly.runs.start(self.scope, workflow, payload=payload)

    def run(self, run: Run) -> Run:
        return self.world.runs.get(self.scope, run.id)

    def step(self, run: Run, node: str, path: str = "") -> Step:
        key = key_of(node, path)
        return self.world.journal.read(self.scope, run.id, [key])[key]

    def has_step(self, run: Run, node: str, path: str = "") -> bool:
        key = key_of(node, path)
        return key in self.world.journal.read(self.scope, run.id, [key])

    def keep(self, value: JsonValue) -> Stored:
        return self.world.values.keep(self.scope, RunId("values"), value)

    def value(self, stored: Stored | None) -> JsonValue:
        assert stored is not None
        return self.world.values.load(self.scope, stored)

    def write(
        self,
        run: Run,
        node: str,
        status: StepStatus = StepStatus.SUCCEEDED,
        *,
        path: str = "",
        port: str | None = None,
        **changes: object,
    ) -> Step:
        """Write an entry; a succeeded one fires `out` unless `port` says otherwise."""
        found = self.world.blueprints.of(self.scope, run.workflow, run.version).graph
        declared = found.by_key.get(NodeKey(node))
        if status is StepStatus.SUCCEEDED and port is None:
            port = "out"
        step = Step(
            run=run.id,
            path=Path(path),
            node=NodeKey(node),
            type=declared.type if declared else "scope",
            status=status,
            port=port,
        )
        return self.world.journal.write(self.scope, step.model_copy(update=changes))

    def write_scope(self, run: Run, loop: str, index: int, item: JsonValue = None) -> Step:
        return self.write(
            run,
            loop,
            StepStatus.RUNNING,
            path=f"{loop}[{index}]",
            type="scope",
            value=self.keep(item),
        )

    def fail(
        self, run: Run, node: str, message: str = "broken", *, path: str = "", after: int = 0
    ) -> Step:
        ended = self.clock.now()
        error = Failure(type="PermanentError", message=message)
        attempt = Attempt(started=ended, ended=replace_seconds(ended, after), error=error)
        return self.write(run, node, StepStatus.FAILED, path=path, attempts=(attempt,))

    def ask(
        self,
        run: Run,
        node: str = "ask",
        *,
        path: str = "",
        token: str = "token-1",
        question: Question | None = None,
    ) -> HumanTask:
        """Let `node` wait for a person."""
        key = key_of(node, path)
        known = self.world.journal.read(self.scope, run.id, [key]).get(key)
        step = known or self.write(run, node, StepStatus.RUNNING, path=path)
        return self.assembly.tasks.open_task(self.scope, step, question or QUESTION, token)

    def level(self, run: Run, path: str = "") -> Level:
        return self.assembly.level(
            self.scope, RunRef.model_validate(run_ref(run)), Path(path) if path else ROOT
        )

    def with_world(self, world: World) -> Assembly:
        return Assembly.of(world)


def machine(name: str) -> str:
    return f"arn:aws:states:eu-central-1:123456789012:stateMachine:{name}"


def key_of(node: str, path: str = "") -> StepKey:
    return StepKey(path=Path(path), node=NodeKey(node))


def replace_seconds(moment: datetime, seconds: int) -> datetime:
    return moment + timedelta(seconds=seconds)


QUESTION = Question(
    kind="approval",
    title="Approve the invoice",
    assignees=("role:finance",),
    ports=("approved", "rejected"),
)


class Crash(Exception):
    """The process ends here."""


class Power:
    """Counts calls, and cuts the power at the n-th."""

    def __init__(self, at: int = 0) -> None:
        self.at = at
        self.calls = 0

    def tick(self) -> None:
        self.calls += 1
        if self.calls == self.at:
            raise Crash


class Fragile:
    """Passes calls on, and loses power before the one that `power` names."""

    def __init__(self, inner: object, power: Power) -> None:
        self._inner = inner
        self._power = power

    def __getattr__(self, name: str) -> object:
        found = getattr(self._inner, name)
        if not callable(found):
            return found

        def call(*args: object, **kwargs: object) -> object:
            self._power.tick()
            return found(*args, **kwargs)

        return call


def fragile(world: World, power: Power) -> World:
    """Return `world` whose stores lose power."""
    wrapped = {
        name: Fragile(getattr(world, name), power)
        for name in ("journal", "runs", "tasks", "waits", "executions")
    }
    return replace(world, **wrapped)  # type: ignore[arg-type]


def race(*contenders: Callable[[], object]) -> list[object]:
    """Run the contenders at the same moment; return what each returned or raised."""
    results: list[object] = [None] * len(contenders)
    barrier = threading.Barrier(len(contenders))

    def contend(index: int) -> None:
        barrier.wait()
        try:
            results[index] = contenders[index]()
        except StellwerkError as error:
            results[index] = error

    threads = [threading.Thread(target=contend, args=(index,)) for index in range(len(contenders))]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return results
