"""The services of the API: those that run and publish workflows, and all around them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from importlib import import_module
from typing import TYPE_CHECKING, Protocol, cast

from stellwerk.aws.audit import DynamoAuditLog
from stellwerk.aws.bodies import Bodies
from stellwerk.aws.connections import DynamoConnections
from stellwerk.aws.directory import directory
from stellwerk.aws.files import DynamoFiles
from stellwerk.aws.requests import DynamoCounters, DynamoRepeats
from stellwerk.bootstrap.clients import Clients, Stores, connect
from stellwerk.bootstrap.hooking import HookServices, hook_services
from stellwerk.bootstrap.occurring import event_service
from stellwerk.bootstrap.running import Publisher, Services, built
from stellwerk.bootstrap.scheduling import ScheduleServices, schedule_services
from stellwerk.bootstrap.things import KnownFiles, KnownUsers
from stellwerk.catalogue.model import Catalogue
from stellwerk.config import Settings
from stellwerk.features.found import FoundFeatures
from stellwerk.files.service import FileService
from stellwerk.kernel.clock import Clock, SystemClock
from stellwerk.requests.limits import RateLimit
from stellwerk.requests.repeats import Once
from stellwerk.runs.rerunning import Rerunning
from stellwerk.runs.service import RunService
from stellwerk.runs.tasks import TaskService
from stellwerk.tenancy.audit import AuditService
from stellwerk.tenancy.auditing import Audit
from stellwerk.tenancy.clients import ClientService
from stellwerk.tenancy.explain import Explainer
from stellwerk.tenancy.instances import InstanceService
from stellwerk.tenancy.machines import KeptSecrets
from stellwerk.tenancy.mandates import MandateService
from stellwerk.tenancy.members import MemberService
from stellwerk.tenancy.ports import Directory
from stellwerk.tenancy.profiles import ProfileService
from stellwerk.tenancy.roles import RoleService
from stellwerk.tenancy.signin import SignIn
from stellwerk.toolboxes.known import CONNECTION, KnownConnections
from stellwerk.triggers.telling import EventService
from stellwerk.watching.monitoring import Monitoring
from stellwerk.watching.reading import Events
from stellwerk.workflows.faults import Fault
from stellwerk.workflows.graph import Graph
from stellwerk.workflows.model import Reference
from stellwerk.workflows.palette import Palette
from stellwerk.workflows.ports import Resources, Things
from stellwerk.workflows.press import Press

if TYPE_CHECKING:
    from stellwerk.bootstrap.connecting import ConnectionServices
    from stellwerk.workflows.compile import Compiled
    from stellwerk.workflows.service import WorkflowService


class LazyCompiler:
    """The compiler, imported when first used: most requests neither check nor compile."""

    def check(self, graph: Graph, catalogue: Catalogue, resources: Resources) -> Sequence[Fault]:
        """Return all that is wrong with `graph`."""
        return self._compiler.check(graph, catalogue, resources)

    def compile(self, graph: Graph, catalogue: Catalogue, *, prefix: str, comment: str) -> Compiled:
        """Return the state machines of a graph that was checked."""
        return self._compiler.compile(graph, catalogue, prefix=prefix, comment=comment)

    def references(self, graph: Graph, catalogue: Catalogue) -> Sequence[Reference]:
        """Return what `graph` names outside of itself."""
        return self._compiler.references(graph, catalogue)

    def service(self, press: Press) -> WorkflowService:
        """Return the service of workflows."""
        return cast("_Service", import_module("stellwerk.workflows.service")).WorkflowService(press)

    @cached_property
    def _compiler(self) -> Publisher:
        return cast("_Compiler", import_module("stellwerk.workflows.compiler")).GraphCompiler()


class _Compiler(Protocol):
    """The module `compiler`, as seen from here."""

    def GraphCompiler(self) -> Publisher:
        """Return the compiler."""


class _Connecting(Protocol):
    """The module `connecting`, as seen from here."""

    def connection_services(
        self, settings: Settings, stores: Stores, audit: Audit, clock: Clock
    ) -> ConnectionServices:
        """Return the services of connections."""


class _Service(Protocol):
    """The module `service`, as seen from here."""

    def WorkflowService(self, press: Press) -> WorkflowService:
        """Return the service."""


@dataclass(frozen=True)
class Requests:
    """What holds for every request."""

    limits: RateLimit
    once: Once


@dataclass(frozen=True)
class Administration:
    """What concerns mandates, their people and machines."""

    signin: SignIn
    profiles: ProfileService
    mandates: MandateService
    instances: InstanceService
    roles: RoleService
    members: MemberService
    clients: ClientService
    explainer: Explainer
    audit: AuditService


@dataclass(frozen=True)
class ApiServices:
    """All that the API can do."""

    running: Services
    directory: Directory
    features: FoundFeatures
    administration: Administration
    files: FileService
    palette: Palette
    requests: Requests
    hooks: HookServices
    events: EventService

    @property
    def settings(self) -> Settings:
        """Where things are."""
        return self.running.settings

    @property
    def workflows(self) -> WorkflowService:
        """Creates, edits, publishes and finds workflows."""
        return self.running.workflows

    @property
    def schedules(self) -> ScheduleServices:
        """Shows schedules, and compares them with what is registered."""
        return schedule_services(self.running)

    @property
    def runs(self) -> RunService:
        """Starts, shows, cancels and replays runs."""
        return self.running.runs

    @cached_property
    def happenings(self) -> Events:
        """Reads the event logs of runs."""
        return self.running.watching.events_for(self.runs)

    @property
    def rerunning(self) -> Rerunning:
        """Replays many runs."""
        return self.running.rerunning

    @property
    def monitoring(self) -> Monitoring:
        """Says how runs are doing."""
        return self.running.watching.monitoring

    @property
    def tasks(self) -> TaskService:
        """Lists and decides human tasks."""
        return self.running.tasks

    @cached_property
    def connecting(self) -> ConnectionServices:
        """Keeps and authorises connections; imported when first used."""
        module = cast("_Connecting", import_module("stellwerk.bootstrap.connecting"))
        press, stores = self.running.press, self.running.stores
        return module.connection_services(self.settings, stores, press.audit, press.clock)


def serve(
    settings: Settings,
    clients: Clients | None = None,
    *,
    clock: Clock | None = None,
    catalogue: Catalogue | None = None,
) -> ApiServices:
    """Return the services of the API; raises FaultyFeature where a feature cannot be served."""
    time = clock or SystemClock()
    ways = connect(settings, clients, time)
    _, stores = ways
    running = built(
        settings,
        ways,
        clock=time,
        catalogue=catalogue,
        compiler=LazyCompiler(),
        things=_things(settings, stores),
    )
    services = _around(running, stores, time)
    services.features.check(services)
    return services


def _things(settings: Settings, stores: Stores) -> Mapping[str, Things]:
    """Return what graphs may name besides workflows."""
    platform = stores.items(settings.platform_table)
    files = DynamoFiles(platform, stores.s3, settings.bucket)
    members = directory(platform, Bodies(stores.values)).members
    return {
        "user": KnownUsers(members),
        "file": KnownFiles(files),
        CONNECTION: KnownConnections(DynamoConnections(platform)),
    }


def _around(running: Services, stores: Stores, clock: Clock) -> ApiServices:
    """Return the services around those that run workflows."""
    settings, audit = running.settings, running.press.audit
    platform = stores.items(settings.platform_table)
    bodies = Bodies(stores.values)
    people, features = directory(platform, bodies), FoundFeatures()
    log = DynamoAuditLog(stores.items(settings.audit_table))
    return ApiServices(
        running=running,
        directory=people,
        features=features,
        administration=Administration(
            signin=SignIn(people, features, audit=audit, clock=clock),
            profiles=ProfileService(people, audit=audit),
            mandates=MandateService(people, audit=audit, clock=clock),
            instances=InstanceService(people, features, audit=audit, clock=clock),
            roles=RoleService(people, features, audit=audit, clock=clock),
            members=MemberService(people, audit=audit, clock=clock),
            clients=ClientService(
                people,
                KeptSecrets(people.members, clock),
                audit=audit,
                clock=clock,
                issuer=settings.issuer,
            ),
            explainer=Explainer(people, audit=audit),
            audit=AuditService(log, clock),
        ),
        files=FileService(DynamoFiles(platform, stores.s3, settings.bucket), audit, clock),
        palette=Palette(running.catalogue),
        requests=Requests(
            limits=RateLimit(DynamoCounters(platform), clock, limit=settings.rate_limit),
            once=Once(DynamoRepeats(platform, bodies), clock),
        ),
        hooks=hook_services(running, stores),
        events=event_service(running),
    )
