"""What is fixed when a run starts: versions of its sub-workflows, values of nodes not to be run."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from stellwerk.kernel.errors import BadInput, NotFound
from stellwerk.kernel.ids import NodeKey, WorkflowId
from stellwerk.kernel.json import JsonValue
from stellwerk.runs.model import Run, Step, StepStatus
from stellwerk.runs.outcome import first_port
from stellwerk.runs.world import World
from stellwerk.tenancy.scope import Scope
from stellwerk.workflows.graph import Graph, Node
from stellwerk.workflows.model import Workflow

MAX_DEPTH = 10
SUBWORKFLOW = "flow.subworkflow"
_REFERENCE = "workflow"


@dataclass(frozen=True)
class Pinned:
    """A value that a node has before the run starts, and its port; None is its first one."""

    value: JsonValue
    port: str | None = None


def pinned_entries(
    world: World,
    scope: Scope,
    run: Run,
    graph: Graph,
    pinned: Mapping[NodeKey, JsonValue | Pinned],
) -> list[Step]:
    """Return the entries of the pinned nodes; raise BadInput for nodes that cannot be pinned."""
    _check(graph, pinned)
    return [_entry(world, scope, run, graph, key, value) for key, value in sorted(pinned.items())]


def pinned_versions(world: World, scope: Scope, graph: Graph) -> dict[str, int]:
    """Return the published version of each sub-workflow that `graph` may call, by workflow id.

    Sub-workflows of sub-workflows are included, ten levels deep. One that is missing, unpublished,
    not active or named by an expression is left to the step that calls it.
    """
    found: dict[str, int] = {}
    level = [graph]
    for _ in range(MAX_DEPTH):
        level = [inner for outer in level for inner in _called(world, scope, outer, found)]
    return found


def find_workflow(world: World, scope: Scope, name: str) -> Workflow:
    """Return the workflow with that slug or id; raise NotFound if there is none for the scope."""
    return world.versions.find(scope, name) or world.versions.workflow(scope, WorkflowId(name))


def _called(world: World, scope: Scope, graph: Graph, found: dict[str, int]) -> Iterator[Graph]:
    for node in graph.nodes:
        workflow = _subworkflow(world, scope, node)
        if workflow is None or not workflow.active or workflow.id in found:
            continue
        if not workflow.published:
            continue
        found[workflow.id] = workflow.published
        yield world.blueprints.of(scope, workflow.id, workflow.published).graph


def _subworkflow(world: World, scope: Scope, node: Node) -> Workflow | None:
    name = node.parameters.get(_REFERENCE) if node.type == SUBWORKFLOW else None
    if not isinstance(name, str) or "{{" in name:
        return None
    try:
        return find_workflow(world, scope, name)
    except NotFound:
        return None


def _check(graph: Graph, pinned: Mapping[NodeKey, JsonValue | Pinned]) -> None:
    allowed = {node.key for node in graph.children[None]}
    if wrong := sorted(set(pinned) - allowed):
        raise BadInput(
            f"No value can be pinned on: {', '.join(wrong)}. Nodes outside loops are: "
            f"{', '.join(sorted(allowed))}.",
            remedy="Pin values on these nodes only.",
        )


def _entry(
    world: World,
    scope: Scope,
    run: Run,
    graph: Graph,
    key: NodeKey,
    pinned: JsonValue | Pinned,
) -> Step:
    given = pinned if isinstance(pinned, Pinned) else Pinned(pinned)
    return Step(
        run=run.id,
        node=key,
        type=graph.by_key[key].type,
        status=StepStatus.SUCCEEDED,
        port=given.port or first_port(graph, world.catalogue, key),
        value=world.values.keep(scope, run.id, given.value),
        recorded_from=run.id,
    )
