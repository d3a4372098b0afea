"""The services of a process that runs workflows, or publishes them."""

from __future__ import annotations

import threading
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from importlib import import_module
from typing import TYPE_CHECKING, NoReturn, Protocol, cast

from stellwerk.aws.audit import DynamoAuditLog
from stellwerk.aws.bodies import Bodies
from stellwerk.aws.bus import EventBridgeBus
from stellwerk.aws.deputies import DynamoDeputies
from stellwerk.aws.directory import directory
from stellwerk.aws.executions import StepFunctionsExecutions
from stellwerk.aws.files import DynamoFiles
from stellwerk.aws.jobs import DynamoJobs
from stellwerk.aws.journal import DynamoJournal
from stellwerk.aws.key_values import DynamoKeyValues
from stellwerk.aws.machines import StepFunctionsMachines
from stellwerk.aws.run_families import DynamoFamilies
from stellwerk.aws.sweep_marks import DynamoMarks
from stellwerk.aws.tasks import DynamoTasks
from stellwerk.aws.versions import DynamoVersions
from stellwerk.aws.waits import DynamoWaits
from stellwerk.bootstrap.clients import Clients, Stores, connect
from stellwerk.bootstrap.later import LaterTriggers, LaterWatching, Means
from stellwerk.bootstrap.things import HandedIn
from stellwerk.catalogue.model import Catalogue
from stellwerk.catalogue.store import StoredCatalogue
from stellwerk.config import Settings
from stellwerk.kernel.clock import Clock, SystemClock
from stellwerk.kernel.errors import Conflict
from stellwerk.runs.assembly import Assembly
from stellwerk.runs.audited import AuditedFiring, AuditedRerunning, AuditedRuns, AuditedTasks
from stellwerk.runs.blueprints import Blueprints
from stellwerk.runs.firing import Firing
from stellwerk.runs.ports import KeyValues
from stellwerk.runs.rerunning import Rerunning
from stellwerk.runs.service import RunService
from stellwerk.runs.tasks import TaskService
from stellwerk.runs.values import Keeper
from stellwerk.runs.world import World
from stellwerk.tenancy.chain import ChainedAudit
from stellwerk.tenancy.deputies import DeputyService
from stellwerk.tenancy.guests import KnownGuests
from stellwerk.tenancy.owners import Owners
from stellwerk.tenancy.places import KnownPlaces
from stellwerk.tenancy.scope import Scope
from stellwerk.tenancy.shares import KnownShares
from stellwerk.workflows.faults import Fault
from stellwerk.workflows.graph import Graph
from stellwerk.workflows.model import Reference, Version, Workflow
from stellwerk.workflows.ports import Resources, Things
from stellwerk.workflows.press import Compiler, Press

if TYPE_CHECKING:
    from stellwerk.bootstrap.watching import Watching
    from stellwerk.triggers.mail.desk import MailDesk
    from stellwerk.workflows.service import WorkflowService


class Publisher(Compiler, Protocol):
    """The compiler, and the service of workflows that publishes with it."""

    def service(self, press: Press) -> WorkflowService:
        """Return the service of workflows."""


class NoCompiler:
    """Stands where nothing is published."""

    def check(self, graph: Graph, catalogue: Catalogue, resources: Resources) -> Sequence[Fault]:
        """Refuse."""
        self._refuse()

    def compile(self, graph: Graph, catalogue: Catalogue, *, prefix: str, comment: str) -> NoReturn:
        """Refuse."""
        self._refuse()

    def references(self, graph: Graph, catalogue: Catalogue) -> Sequence[Reference]:
        """Refuse."""
        self._refuse()

    def service(self, press: Press) -> NoReturn:
        """Refuse."""
        self._refuse()

    def _refuse(self) -> NoReturn:
        raise Conflict(
            "this process runs workflows and cannot publish any",
            remedy="Build its services with compiler=GraphCompiler().",
        )


@dataclass(frozen=True)
class Tester:
    """Lets drafts run, by the service of workflows, which is opened only then."""

    publisher: Publisher
    press: Press

    def prepare(self, scope: Scope, workflow: Workflow, draft: Version) -> Version:
        """Return the draft as it is now, with machines; Conflict in a process without compiler."""
        return self.publisher.service(self.press).prepare(scope, workflow, draft)


@dataclass(frozen=True)
class Services:
    """All that a process of ours can do."""

    settings: Settings
    catalogue: Catalogue
    press: Press
    publisher: Publisher
    assembly: Assembly
    key_values: KeyValues
    stores: Stores
    later: LaterWatching

    @cached_property
    def workflows(self) -> WorkflowService:
        """Creates, edits, publishes and finds workflows; Conflict in a process without compiler."""
        return self.publisher.service(self.press)

    @cached_property
    def runs(self) -> RunService:
        """Starts, shows, cancels and replays runs, and writes into the audit who did."""
        return AuditedRuns(self.assembly, self.press.audit)

    @cached_property
    def rerunning(self) -> Rerunning:
        """Replays many runs, and writes into the audit who wants that."""
        return AuditedRerunning(self.assembly, self.press.audit)

    @cached_property
    def firing(self) -> Firing:
        """Starts runs that no person asks for, and writes into the audit in whose name."""
        return AuditedFiring(self.assembly, self.press.audit)

    @cached_property
    def tasks(self) -> TaskService:
        """Lists, decides and delegates human tasks, and writes into the audit who did."""
        return AuditedTasks(self.assembly, self.press.audit)

    @cached_property
    def deputies(self) -> DeputyService:
        """Names who stands in for whom, and writes into the audit who did."""
        platform = self.stores.items(self.settings.platform_table)
        bodies = Bodies(self.stores.values)
        return DeputyService(
            DynamoDeputies(platform, bodies),
            directory(platform, bodies).members,
            audit=self.press.audit,
            clock=self.press.clock,
        )

    @property
    def watching(self) -> Watching:
        """What watches runs; imported by processes that do."""
        return self.later.watching

    @cached_property
    def mail(self) -> MailDesk:
        """What waits for mail; imported when first used."""
        return cast("_Mailing", import_module("stellwerk.bootstrap.mailing")).mail_desk(self)

    @property
    def http_allow(self) -> tuple[str, ...]:
        """`host:port` that `http.request` may call although the address is private."""
        return self.settings.http_allow


class _Mailing(Protocol):
    """The module `mailing`, as seen from here."""

    def mail_desk(self, running: Services) -> MailDesk:
        """Return what waits for mail."""


def build(
    settings: Settings,
    clients: Clients | None = None,
    *,
    clock: Clock | None = None,
    catalogue: Catalogue | None = None,
    compiler: Publisher | None = None,
    things: Mapping[str, Things] | None = None,
) -> Services:
    """Return the services of a deployment; what is not given is as it is on AWS.

    `things` are what graphs may name, by kind: without them nobody looks whether users are there.
    """
    time = clock or SystemClock()
    return built(
        settings,
        connect(settings, clients, time),
        clock=time,
        catalogue=catalogue,
        compiler=compiler,
        things=things,
    )


def built(
    settings: Settings,
    ways: tuple[Clients, Stores],
    *,
    clock: Clock,
    catalogue: Catalogue | None = None,
    compiler: Publisher | None = None,
    things: Mapping[str, Things] | None = None,
) -> Services:
    """Return what `build` returns, over what `connect` returned: connecting takes 0.2 s."""
    types = catalogue or StoredCatalogue()
    doors, stores = ways
    values = stores.values
    platform = stores.items(settings.platform_table)
    publisher = compiler or NoCompiler()
    versions = DynamoVersions(platform, Bodies(values))
    means = Means(settings, doors, stores, clock, types, versions)
    press = Press(
        versions=versions,
        machines=StepFunctionsMachines(lambda: doors.stepfunctions, settings.states_role),
        values=values,
        catalogue=types,
        compiler=publisher,
        clock=clock,
        prefix=settings.prefix,
        audit=ChainedAudit(DynamoAuditLog(stores.items(settings.audit_table)), clock),
        things=things or {},
        triggers=LaterTriggers(means),
    )
    later = LaterWatching(means)
    return Services(
        settings=settings,
        catalogue=types,
        press=press,
        publisher=publisher,
        assembly=Assembly.of(_world(settings, ways, press, publisher, later)),
        key_values=DynamoKeyValues(platform, values),
        stores=stores,
        later=later,
    )


def _world(
    settings: Settings,
    ways: tuple[Clients, Stores],
    press: Press,
    publisher: Publisher,
    later: LaterWatching,
) -> World:
    clients, stores = ways
    items, platform = stores.items(settings.runs_table), stores.items(settings.platform_table)
    bodies = Bodies(press.values)
    people = directory(platform, bodies)
    keeper = Keeper(press.values)
    tasks = DynamoTasks(items, bodies)
    return World(
        journal=DynamoJournal(items, bodies),
        runs=DynamoFamilies(items, bodies),
        tasks=tasks,
        waits=DynamoWaits(items, bodies),
        due=tasks,
        executions=StepFunctionsExecutions(lambda: clients.stepfunctions),
        versions=press.versions,
        blueprints=Blueprints(press.versions, keeper),
        values=keeper,
        catalogue=press.catalogue,
        clock=press.clock,
        actors=Owners(people, press.clock),
        machines=press.machines,
        things=press.things,
        trials=Tester(publisher, press),
        places=KnownPlaces(people.mandates),
        marks=DynamoMarks(platform),
        jobs=DynamoJobs(items, bodies),
        shares=KnownShares(people.mandates, press.clock),
        deputies=DynamoDeputies(platform, bodies),
        guests=KnownGuests(people.mandates),
        uploads=HandedIn(DynamoFiles(platform, stores.s3, settings.bucket)),
        notices=later,
        follower=later,
        chores=(later,),
        bus=EventBridgeBus(lambda: clients.events, settings.bus),
    )


class Provider:
    """Hands out one set of services, built when first asked for."""

    def __init__(self, factory: Callable[[], Services]) -> None:
        self._factory = factory
        self._built: Services | None = None
        self._lock = threading.Lock()

    def __call__(self) -> Services:
        """Return the services."""
        with self._lock:
            if self._built is None:
                self._built = self._factory()
            return self._built

    def provide(self, factory: Callable[[], Services]) -> None:
        """From now on hand out what `factory` builds: for a host that runs handlers itself."""
        with self._lock:
            self._factory = factory
            self._built = None


services = Provider(lambda: build(Settings.from_environment()))
"""The services of a Lambda's process: `services()`."""
