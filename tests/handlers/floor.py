"""A shop floor for node Lambdas: a published graph in memory, and calls as machines make them."""

from __future__ import annotations

import importlib
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TypeVar, cast

from stellwerk.catalogue.model import Catalogue
from stellwerk.catalogue.store import StoredCatalogue
from stellwerk.handlers.declare import Parameters
from stellwerk.handlers.step import Handler
from stellwerk.kernel.ids import NodeKey, Path, RunId, WorkflowId
from stellwerk.kernel.json import JsonObject, JsonValue
from stellwerk.runs.assembly import Assembly
from stellwerk.runs.blueprints import Blueprints
from stellwerk.runs.model import HumanTask, Run, Step, StepKey, StepStatus
from stellwerk.runs.names import run_ref
from stellwerk.runs.ports import Journal
from stellwerk.runs.values import Keeper
from stellwerk.runs.world import World
from stellwerk.tenancy.scope import Scope, seeded
from stellwerk.triggers.mail.desk import MailDesk
from stellwerk.triggers.mail.waits import MailWaits
from stellwerk.workflows.graph import Graph, graph_hash
from stellwerk.workflows.model import Version, VersionStatus, Workflow
from stellwerk.workflows.ports import Values
from tests.connections.desk import Desk
from tests.fakes.clock import FixedClock
from tests.fakes.executions import FakeExecutions
from tests.fakes.journal import FakeJournal
from tests.fakes.key_values import FakeKeyValues
from tests.fakes.mailboxes import FakeMailboxes
from tests.fakes.memory import Memory
from tests.fakes.people import FakeGuests, FakeUploads
from tests.fakes.platform import FakeActors
from tests.fakes.runs import FakeRuns
from tests.fakes.tasks import FakeTasks, FakeWaits
from tests.fakes.versions import FakeValues, FakeVersions

CATALOGUE = StoredCatalogue()
T = TypeVar("T")
ARN = "arn:aws:states:eu-central-1:123456789012:stateMachine:"


class Died(BaseException):
    """The process ends here: nothing of ours catches it."""


@dataclass
class Meter:
    """Counts calls of stores by name, and ends the process before, or after, the n-th."""

    calls: list[str] = field(default_factory=list)
    die_at: int = 0
    after: bool = False

    def count(self) -> Counter[str]:
        return Counter(self.calls)


class Metered:
    """A store whose calls a meter counts."""

    def __init__(self, name: str, inner: object, meter: Meter) -> None:
        self._name, self._inner, self._meter = name, inner, meter

    def __getattr__(self, name: str) -> object:
        found = getattr(self._inner, name)

        def call(*args: object, **kwargs: object) -> object:
            meter = self._meter
            meter.calls.append(f"{self._name}.{name}")
            here = len(meter.calls) == meter.die_at
            if here and not meter.after:
                raise Died
            result = found(*args, **kwargs)
            if here:
                raise Died
            return result

        return call


@dataclass(frozen=True)
class Context:
    """Lambda's context."""

    aws_request_id: str = "request-1"
    milliseconds: int = 60_000

    def get_remaining_time_in_millis(self) -> int:
        return self.milliseconds


@dataclass
class Floor:
    """The bench of the handlers, and shortcuts for what tests do over and over."""

    catalogue: Catalogue = CATALOGUE
    http_allow: tuple[str, ...] = ()
    journal: Journal | None = None
    """Another one than that in memory."""
    objects: Values | None = None

    def __post_init__(self) -> None:
        self.memory, self.clock, self.executions = Memory(), FixedClock(), FakeExecutions()
        self.scope: Scope = seeded()
        self.actors = FakeActors()
        self.guests, self.uploads = FakeGuests(), FakeUploads()
        self.meter = Meter()
        self.key_values = FakeKeyValues(self.memory)
        versions = self._metered("versions", FakeVersions(self.memory))
        values = Keeper(self._metered("values", self.objects or FakeValues(self.memory)))
        tasks = FakeTasks(self.memory)
        self.world = World(
            journal=self._metered("journal", self.journal or FakeJournal(self.memory)),
            runs=self._metered("runs", FakeRuns(self.memory)),
            tasks=self._metered("tasks", tasks),
            waits=self._metered("waits", FakeWaits(self.memory)),
            due=tasks,
            executions=self._metered("executions", self.executions),
            versions=versions,
            blueprints=Blueprints(versions, values),
            values=values,
            catalogue=self.catalogue,
            clock=self.clock,
            actors=self.actors,
            guests=self.guests,
            uploads=self.uploads,
        )
        self.assembly = Assembly.of(self.world)
        self.mailboxes = FakeMailboxes()
        self.use(Desk(clock=self.clock))

    def _metered(self, name: str, inner: T) -> T:
        return cast("T", Metered(name, inner, self.meter))

    def use(self, desk: Desk) -> None:
        """Keep connections at `desk`."""
        self.desk = desk
        self.mail = MailDesk(self.actors, desk.accounts, MailWaits(self.world, self.mailboxes))

    def publish(
        self,
        nodes: Mapping[str, JsonObject],
        edges: Sequence[str] = (),
        *,
        slug: str = "demo",
        watch: JsonObject | None = None,
    ) -> WorkflowId:
        """Publish `nodes` by key and edges such as `a b` or `a.true b`."""
        drawn = Graph.model_validate(
            {
                "nodes": [{"key": key, **node} for key, node in nodes.items()],
                "edges": [_edge(edge) for edge in edges],
            }
        )
        workflow = Workflow(
            id=WorkflowId(f"w-{slug}"),
            title=slug,
            slug=slug,
            created_by=self.scope.user,
            created=self.clock.now(),
        )
        workflow = self.world.versions.create(self.scope, workflow)
        loops = {
            node.parent: f"{ARN}{self.scope.mandate}-{slug}-{node.parent}"
            for node in drawn.nodes
            if node.parent
        }
        version = Version(
            workflow=workflow.id,
            number=1,
            status=VersionStatus.DRAFT,
            graph=self.world.values.keep(
                self.scope, RunId("versions"), drawn.model_dump(mode="json", by_alias=True)
            ),
            graph_hash=graph_hash(drawn),
            author=self.scope.user,
            created=self.clock.now(),
            machines={"": f"{ARN}{self.scope.mandate}-{slug}", **loops},
            plan={"watch": watch or {}},
        )
        workflow, version = self.world.versions.add(self.scope, workflow, version)
        published = version.model_copy(update={"status": VersionStatus.PUBLISHED})
        named = workflow.model_copy(update={"published": version.number})
        self.world.versions.move(self.scope, named, published)
        return workflow.id

    def start(self, payload: JsonValue = None, *, workflow: str = "demo") -> Run:
        """Start a run of the published workflow, and remember it as the one that is called."""
        self.run = self.assembly.runs.start(self.scope, workflow, payload=payload)
        return self.run

    def event(self, node: str, path: str = "", **more: JsonValue) -> JsonObject:
        """Return the payload that a state hands to the Lambda of `node`."""
        return {"run": run_ref(self.run), "path": path, "node": node, **more}

    def handler(self, node: str) -> Handler[Parameters]:
        """Return the handler of the node's type, found by the catalogue."""
        run = self.run
        graph = self.world.blueprints.of(self.scope, run.workflow, run.version).graph
        declared = self.catalogue.find(graph.by_key[NodeKey(node)].type)
        assert declared is not None
        module, _, name = declared.handler.rpartition(".")
        return cast("Handler[Parameters]", getattr(importlib.import_module(module), name))

    def call(self, node: str, path: str = "", **more: JsonValue) -> JsonObject:
        """Call the Lambda of `node`."""
        return self.handler(node).serve(self.event(node, path, **more), Context(), self)

    def value(self, node: str, path: str = "") -> JsonValue:
        """Return the value that the journal holds of `node`."""
        stored = self.step(node, path).value
        return None if stored is None else self.world.values.load(self.scope, stored)

    def input(self, node: str, path: str = "") -> JsonValue:
        """Return the resolved parameters that the journal holds of `node`."""
        stored = self.step(node, path).input
        return None if stored is None else self.world.values.load(self.scope, stored)

    def step(self, node: str, path: str = "") -> Step:
        """Return the entry of `node`."""
        found = self.find(node, path)
        assert found is not None
        return found

    def find(self, node: str, path: str = "") -> Step | None:
        """Return the entry of `node`, if there is one."""
        key = StepKey(path=Path(path), node=NodeKey(node))
        return self.memory.of(self.scope).steps.get((self.run.id, key))

    def write(self, node: str, path: str = "", value: JsonValue = None, **more: object) -> Step:
        """Write an entry: succeeded at port `out`, unless `more` says otherwise."""
        before = self.find(node, path)
        step = Step(
            run=self.run.id,
            path=Path(path),
            node=NodeKey(node),
            type=str(more.pop("type", "data.set")),
            status=StepStatus.SUCCEEDED,
            port="out",
            value=self.world.values.keep(self.scope, self.run.id, value),
            revision=before.revision if before else 0,
        )
        return self.world.journal.write(self.scope, step.model_copy(update=more))

    def tasks(self) -> Sequence[HumanTask]:
        """Return the tasks of the run."""
        return self.world.tasks.of_run(self.scope, self.run.id)


def single(floor: Floor, kind: str, given: JsonValue = None, **parameters: JsonValue) -> JsonObject:
    """Run one node of type `kind` behind a trigger that has `given`, and return its reply."""
    nodes: dict[str, JsonObject] = {
        "start": {"type": "trigger.manual"},
        "node": {"type": kind, "parameters": parameters},
    }
    floor.publish(nodes, ["start node"])
    floor.start(given)
    floor.call("start")
    return floor.call("node")


def _edge(text: str) -> JsonObject:
    source, target = text.split()
    key, _, port = source.partition(".")
    return {"from": key, "port": port or "out", "to": target}
