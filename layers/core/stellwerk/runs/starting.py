"""Starting runs: first the record of the delivery, then the execution that the record names.

A redelivery finds the record and repeats the same start, never another one; so does the sweeper
where a process died between the two.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from stellwerk.kernel.errors import BadInput, Conflict
from stellwerk.kernel.ids import NodeKey, RunId, new_id
from stellwerk.kernel.json import JsonValue
from stellwerk.kernel.records import Stored
from stellwerk.runs.launching import Launching, machine_of
from stellwerk.runs.model import Mode, ParentStep, Run, RunStatus, Step, TriggeredBy
from stellwerk.runs.partial import Partial, first_trigger, partial_entries
from stellwerk.runs.pinning import Pinned, find_workflow, pinned_entries, pinned_versions
from stellwerk.runs.rights import check_owner
from stellwerk.runs.triggers import choose_trigger
from stellwerk.runs.turns import Turns
from stellwerk.runs.world import World
from stellwerk.tenancy.scope import Scope
from stellwerk.workflows.faults import InvalidGraph
from stellwerk.workflows.graph import Graph
from stellwerk.workflows.model import (
    Concurrency,
    Overflow,
    Version,
    VersionStatus,
    Workflow,
)
from stellwerk.workflows.resources import KnownResources, unknown

CALLED = "trigger.called"


@dataclass(frozen=True)
class Order:
    """What to start. `workflow` is an id or a slug; `delivery` None never comes again."""

    workflow: str
    payload: JsonValue = None
    trigger: NodeKey | None = None
    delivery: str | None = None
    version: int | None = None
    mode: Mode = "live"
    pinned: Mapping[NodeKey, JsonValue | Pinned] = field(default_factory=dict)
    partial: Partial | None = None
    """Which part of the workflow runs; None: all of it."""
    source: Run | None = None
    """The earlier run whose values stand for what a partial run leaves out."""
    parent: ParentStep | None = None
    pinned_versions: Mapping[str, int] = field(default_factory=dict)
    automatic: bool = False
    """Whether no person asks for it, but a trigger."""
    overlap: Overflow | None = None
    """What the trigger says of a start while another of its runs is open; None: nothing."""

    @property
    def by_itself(self) -> bool:
        """Whether it acts for the workflow's owner: by a trigger, or called by another run."""
        return self.automatic or self.parent is not None


class Starting(Launching):
    """Records runs and starts their executions."""

    def __init__(self, world: World, turns: Turns) -> None:
        super().__init__(world)
        self._turns = turns

    def record(self, scope: Scope, order: Order) -> Run:
        """Write the run that `order` asks for, or return the one that its delivery started before.

        It acts for the scope's user; one that starts by itself for the workflow's owner, and raises
        Forbidden where the owner may not start it at this moment.
        Raises BadInput for a trigger or pinned node that is not there, and where nothing is
        published; InvalidGraph for things that the version names and that are not there any more;
        Conflict where the workflow is not active; ConcurrencyReached where as many of its runs are
        open as it allows, and a further one is to be skipped.
        """
        return self.record_of(scope, find_workflow(self._world, scope, order.workflow), order)

    def record_of(self, scope: Scope, workflow: Workflow, order: Order) -> Run:
        """Do the same where the workflow is known already."""
        if order.delivery is not None:
            known = self._world.runs.delivered(scope, workflow.id, order.delivery)
            if known is not None:  # whatever has become of the workflow since
                return known
        return self._recorded_anew(scope, workflow, order)

    def _recorded_anew(self, scope: Scope, workflow: Workflow, order: Order) -> Run:
        acting = check_owner(self._world.actors, scope, workflow) if order.by_itself else scope
        version = self._version(scope, workflow, order, acting)
        found = self._world.blueprints.of(scope, workflow.id, version.number, version.trial)
        graph = found.graph
        kind = CALLED if order.parent is not None else None
        wanted = order.trigger or first_trigger(self._world, graph, order.partial, order.source)
        trigger = choose_trigger(self._world.catalogue, graph, wanted, kind=kind)
        now = self._world.clock.now()
        run_id = RunId(new_id(now))
        run = Run(
            id=run_id,
            mandate=scope.mandate,
            instance=scope.instance,
            user=workflow.created_by if order.by_itself else scope.user,
            workflow=workflow.id,
            version=version.number,
            title=workflow.title,
            status=RunStatus.RUNNING,
            trigger=TriggeredBy(
                node=trigger.key, delivery=order.delivery or run_id, kind=trigger.type
            ),
            started=now,
            mode=order.mode,
            trial=version.trial,
            input=self._input(scope, run_id, order),
            parent=order.parent,
            vars=workflow.vars,
            pinned_versions=self._pinned_versions(scope, graph, order),
            overlap=order.overlap,
        )
        entries = self._pinned(scope, run, graph, order)
        return self.write(scope, run, entries, workflow.concurrency)

    def write(
        self,
        scope: Scope,
        run: Run,
        entries: Sequence[Step],
        concurrency: Concurrency | None = None,
    ) -> Run:
        """Write `entries`, then the run, as far as its limits let it in: see `Turns.enter`."""
        return self._turns.enter(scope, run, entries, concurrency)

    def _version(self, scope: Scope, workflow: Workflow, order: Order, acting: Scope) -> Version:
        pinned = order.pinned_versions.get(workflow.id) if order.parent else None
        number = order.version or pinned or _default_version(workflow, order.mode)
        version = self._world.versions.get(scope, workflow.id, number)
        if order.mode == "live" and version.number != pinned:
            _check_active(workflow)
            _check_published(workflow, version)
        elif version.status is not VersionStatus.PUBLISHED and self._world.trials is not None:
            version = self._world.trials.prepare(scope, workflow, version)
        self._check_names(acting, version)
        machine_of(version)
        return version

    def _check_names(self, scope: Scope, version: Version) -> None:
        """Raise InvalidGraph for what the version names and is not there any more for whom it acts.

        Workflows do not go, and the step that calls one looks it up.
        """
        things = self._world.things
        known = KnownResources(self._world.versions, scope, things=things)
        named = (reference for reference in version.names if reference.kind in things)
        if faults := [*unknown(named, known)]:
            raise InvalidGraph(faults)

    def _pinned_versions(self, scope: Scope, graph: Graph, order: Order) -> dict[str, int]:
        if order.parent is not None:
            return dict(order.pinned_versions)
        return pinned_versions(self._world, scope, graph)

    def _input(self, scope: Scope, run: RunId, order: Order) -> Stored | None:
        """Keep what the trigger is given: by default what the run had whose values are taken."""
        if order.payload is None and order.source is not None:
            return self._world.values.owned(scope, run, order.source.input)
        return self._world.values.keep(scope, run, order.payload)

    def _pinned(self, scope: Scope, run: Run, graph: Graph, order: Order) -> Sequence[Step]:
        pinned = pinned_entries(self._world, scope, run, graph, order.pinned)
        if order.partial is None:
            return pinned
        return partial_entries(self._world, scope, run, graph, order.partial, order.source, pinned)


def _default_version(workflow: Workflow, mode: str) -> int:
    number = workflow.published if mode == "live" else workflow.latest
    if not number:
        raise BadInput(
            f"Workflow '{workflow.slug}' has no published version.",
            remedy="Publish it, or start its draft in mode 'test'.",
        )
    return number


def _check_active(workflow: Workflow) -> None:
    if not workflow.active:
        raise Conflict(
            f"Workflow '{workflow.slug}' is not active: nothing starts it.",
            remedy="Activate it, or start a test run.",
        )


def _check_published(workflow: Workflow, version: Version) -> None:
    if version.status is not VersionStatus.PUBLISHED:
        raise Conflict(
            f"Version {version.number} of workflow '{workflow.slug}' is {version.status}: "
            "only a published version starts live.",
            remedy="Start the published version, publish this one, or use mode 'test'.",
        )
