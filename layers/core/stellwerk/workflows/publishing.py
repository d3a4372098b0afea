"""Publishing: check, compile, create the state machines, write the version, publish it.

Machines come first, and what was written before the last step is found again: whatever dies in
between, publishing once more completes it and makes nothing twice.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

from stellwerk.catalogue.model import Catalogue
from stellwerk.kernel.clock import Clock
from stellwerk.kernel.ids import NodeKey, WorkflowId, new_id
from stellwerk.kernel.json import JsonObject
from stellwerk.tenancy.scope import Scope
from stellwerk.workflows.faults import Fault, InvalidGraph, errors
from stellwerk.workflows.graph import Graph, graph_hash
from stellwerk.workflows.model import Version, VersionStatus, Workflow
from stellwerk.workflows.naming import check_slug, machine_name, slug_of
from stellwerk.workflows.ports import Machines, Resources, Values, Versions
from stellwerk.workflows.resources import KnownResources
from stellwerk.workflows.values import Texts, exact_json

if TYPE_CHECKING:
    from stellwerk.workflows.compile import Compiled


class Compiler(Protocol):
    """Checks and compiles graphs."""

    def check(self, graph: Graph, catalogue: Catalogue, resources: Resources) -> Sequence[Fault]:
        """Return all that is wrong with `graph`."""

    def compile(self, graph: Graph, catalogue: Catalogue, *, prefix: str, comment: str) -> Compiled:
        """Return the state machines of a graph that was checked; raises BadInput over budget."""


@dataclass(frozen=True)
class Press:
    """What publishing works with."""

    versions: Versions
    machines: Machines
    values: Values
    catalogue: Catalogue
    compiler: Compiler
    clock: Clock
    prefix: str


class Publishing:
    """Publishes graphs."""

    def __init__(self, press: Press) -> None:
        self._press = press
        self._texts = Texts(press.values)

    def publish(
        self, scope: Scope, graph: Graph, *, slug: str | None, title: str | None
    ) -> tuple[Workflow, Version]:
        """Publish `graph`; a graph that was published before is the same version again.

        Raises InvalidGraph with all faults, BadInput for a bad slug or a graph that is too large,
        Conflict if someone else publishes the same workflow at the same moment.
        """
        slug = check_slug(slug) if slug else slug_of(title or graph.title)
        self._check(scope, graph, slug)
        workflow = self._workflow(scope, slug, title or graph.title or slug)
        versions = self._press.versions.versions(scope, workflow.id)
        meant = graph_hash(graph)
        same = next((found for found in versions if found.graph_hash == meant), None)
        if same is not None and same.number == workflow.published:
            return workflow, same
        if same is None:
            workflow, same = self._add(scope, graph, workflow)
        else:
            self._restore(scope, same)
        before = next((found for found in versions if found.number == workflow.published), None)
        workflow = self._press.versions.publish(scope, workflow, same, before)
        return workflow, self._press.versions.get(scope, workflow.id, same.number)

    def _check(self, scope: Scope, graph: Graph, slug: str) -> None:
        resources = KnownResources(self._press.versions, scope, itself=slug)
        faults = self._press.compiler.check(graph, self._press.catalogue, resources)
        if errors(faults):
            raise InvalidGraph(faults, graph=graph)

    def _workflow(self, scope: Scope, slug: str, title: str) -> Workflow:
        found = self._press.versions.find(scope, slug)
        if found is not None:
            return found
        now = self._press.clock.now()
        return Workflow(
            id=WorkflowId(new_id(now)), title=title, slug=slug, created_by=scope.user, created=now
        )

    def _add(self, scope: Scope, graph: Graph, workflow: Workflow) -> tuple[Workflow, Version]:
        number = workflow.latest + 1
        comment = f"{workflow.slug} v{number} {graph_hash(graph)}"
        compiled = self._press.compiler.compile(
            graph, self._press.catalogue, prefix=self._press.prefix, comment=comment
        )
        machines = self._create(scope, workflow, number, compiled)
        stored = exact_json(graph.model_dump(mode="json", by_alias=True))
        version = Version(
            workflow=workflow.id,
            number=number,
            status=VersionStatus.DRAFT,
            graph=self._texts.keep(scope, f"workflows/{workflow.id}", stored),
            graph_hash=compiled.graph_hash,
            author=scope.user,
            created=self._press.clock.now(),
            machines=machines,
            plan=_plan(compiled),
        )
        if workflow.revision == 0:
            workflow = self._press.versions.create(scope, workflow)
        return self._press.versions.add(scope, workflow, version)

    def _create(
        self, scope: Scope, workflow: Workflow, number: int, compiled: Compiled
    ) -> dict[str, str]:
        """Create the machines and keep their definitions, from which they can be made anew."""
        definitions = {NodeKey(""): compiled.definition, **compiled.children}
        arns: dict[str, str] = {}
        for loop, definition in definitions.items():
            name = machine_name(scope, workflow.slug, number, loop, definition)
            self._press.values.put(scope, _definition_key(name), definition.encode())
            arns[loop] = self._press.machines.create(scope, name, definition)
        return arns

    def _restore(self, scope: Scope, version: Version) -> None:
        """Make the machines of a version that may have been retired, from what was kept."""
        for arn in version.machines.values():
            name = arn.rsplit(":", 1)[-1]
            definition = self._press.values.get(scope, _definition_key(name)).decode()
            self._press.machines.create(scope, name, definition)


def _definition_key(machine: str) -> str:
    return f"machines/{machine}.asl.json"


def _plan(compiled: Compiled) -> JsonObject:
    watched: JsonObject = {node: [*gated] for node, gated in compiled.watch.items()}
    return {"watch": watched}
