"""Running a part of a workflow: from a node on, or one node alone, on what is recorded before it.

Nodes outside loops only; a loop runs as a whole. Three kinds of nodes have their entry before the
run starts: pinned ones; those that lead to the part, whose entries are an earlier run's, by the
rules of replays; and those that have nothing to do with it, which are left out.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from stellwerk.catalogue.model import Kind
from stellwerk.kernel.errors import BadInput
from stellwerk.kernel.ids import ROOT, NodeKey, RunId
from stellwerk.runs.keeping import copied, kept_nodes
from stellwerk.runs.liveness import ancestors
from stellwerk.runs.model import Run, Step, StepKey, StepStatus
from stellwerk.runs.outcome import first_port
from stellwerk.runs.world import World
from stellwerk.tenancy.scope import Scope
from stellwerk.workflows.graph import Graph

Entries = Mapping[NodeKey, Step]


@dataclass(frozen=True)
class Partial:
    """Which part of a workflow runs: `node` with all that follows it, or `alone`.

    `source` is the run of the same workflow whose values stand for the nodes before it.
    """

    node: NodeKey
    alone: bool = False
    source: RunId | None = None


def partial_of(
    from_node: NodeKey | None, only_node: NodeKey | None, source: RunId | None
) -> Partial | None:
    """Return the part that is asked for, None if all runs; raise BadInput for contradictions."""
    if from_node and only_node:
        raise BadInput(
            "A run begins at one node, or is of one node only: not both.",
            remedy="Name one of the two.",
        )
    node = from_node or only_node
    if node is None:
        if source is not None:
            raise BadInput(
                "It is not said which part of the workflow runs on the earlier run's values.",
                remedy="Name the node to run from, or the only one to run.",
            )
        return None
    return Partial(node, only_node is not None, source)


def first_trigger(
    world: World, graph: Graph, partial: Partial | None, source: Run | None
) -> NodeKey | None:
    """Return the trigger at which a partial run starts; None: the workflow's first one."""
    if partial is not None and partial.node in graph.by_key:
        declared = world.catalogue.find(graph.by_key[partial.node].type)
        if declared is not None and declared.kind is Kind.TRIGGER:
            return partial.node
    return source.trigger.node if source is not None else None


def partial_entries(
    world: World,
    scope: Scope,
    run: Run,
    graph: Graph,
    partial: Partial,
    source: Run | None,
    pinned: Sequence[Step],
) -> list[Step]:
    """Return the entries with which a partial run begins, those `pinned` among them.

    Raises BadInput for a live run, a run of another workflow, a node that is not there or that
    recorded values do not lead to, and for nodes before it without a recorded value.
    """
    _check(run, graph, partial, source)
    part = _part(graph, partial)
    given = {step.node: step for step in pinned}
    if partial.node in given:
        raise BadInput(
            f"Node '{partial.node}' is to run, and has a pinned value.",
            remedy="Leave out its value, or begin behind it.",
        )
    recorded = _recorded(world, scope, run, graph, partial, source)
    before = _before(graph, part)
    found = _reached(graph, run.trigger.node, part, {**recorded, **given}, partial)
    kept = [_owned(world, scope, step) for step in found.values()]
    kept += [given[key] for key in sorted(part & given.keys())]
    out = [key for key in _level(graph) if key not in part | before]
    return [*kept, *(_left_out(world, run, graph, key) for key in sorted(out))]


def _check(run: Run, graph: Graph, partial: Partial, source: Run | None) -> None:
    if run.mode == "live":
        raise BadInput(
            "A live run starts at its trigger and runs whole.",
            remedy="Use mode 'test' or 'dry', or replay a run that is over.",
        )
    if source is not None and source.workflow != run.workflow:
        raise BadInput(f"Run {source.id} is not one of this workflow.", remedy="Name a run of it.")
    if partial.node not in _level(graph):
        raise BadInput(
            f"No run can begin at '{partial.node}'. Nodes outside loops are: "
            f"{', '.join(sorted(_level(graph)))}.",
            remedy="Name one of them.",
        )


def _level(graph: Graph) -> set[NodeKey]:
    return {node.key for node in graph.children[None]}


def _part(graph: Graph, partial: Partial) -> set[NodeKey]:
    """Return the nodes that are to run."""
    found = {partial.node}
    ahead = [] if partial.alone else [partial.node]
    while ahead:
        targets = {edge.target for edge in graph.outgoing.get(ahead.pop(), ())} - found
        found |= targets
        ahead.extend(targets)
    return found


def _before(graph: Graph, part: set[NodeKey]) -> set[NodeKey]:
    """Return the nodes outside the part from which edges lead to it."""
    return {key for node in part for key in ancestors(graph, node)} - part


def _recorded(
    world: World, scope: Scope, run: Run, graph: Graph, partial: Partial, source: Run | None
) -> dict[NodeKey, Step]:
    """Return the entries of the earlier run that are still true of the graph."""
    if source is None:
        return {}
    whole = kept_nodes(world.graph(scope, source), graph, partial.node).whole
    keys = [StepKey(path=ROOT, node=key) for key in sorted(whole & _level(graph))]
    steps = world.journal.read(scope, source.id, keys).values()
    return {
        step.node: copied(step, source, run)
        for step in steps
        if step.done and step.status is not StepStatus.SKIPPED
    }


def _reached(
    graph: Graph, trigger: NodeKey, part: set[NodeKey], entries: Entries, partial: Partial
) -> dict[NodeKey, Step]:
    """Return the entries of the nodes that run before the part does, as their ports lead there.

    Raises BadInput for those without an entry, and if no port leads to the part's first node.
    """
    before, found, lacking = _before(graph, part), dict[NodeKey, Step](), set[NodeKey]()
    seen = {trigger}
    ahead = [trigger]
    while ahead:
        key = ahead.pop()
        if key in part or key not in before:
            continue
        step = entries.get(key)
        if step is None:
            lacking.add(key)
            continue
        found[key] = step
        live = {edge.target for edge in graph.outgoing[key] if edge.port == step.port} - seen
        seen |= live
        ahead.extend(live)
    _check_reached(lacking, seen, partial)
    return found


def _check_reached(lacking: set[NodeKey], seen: set[NodeKey], partial: Partial) -> None:
    origin = f"run {partial.source}" if partial.source else "any run that is named"
    if lacking:
        raise BadInput(
            f"These nodes run before '{partial.node}' and have no value in {origin}, or have "
            f"changed since: {', '.join(sorted(lacking))}.",
            remedy="Pin their values, or name a run in which they have run as they are now.",
        )
    if partial.node not in seen:
        raise BadInput(
            f"Nothing leads to '{partial.node}' with these values: it was not the turn of its "
            "branch.",
            remedy="Name a run that came to it, or pin the values that lead there.",
        )


def _owned(world: World, scope: Scope, step: Step) -> Step:
    """Return the entry with values that stay when the earlier run goes."""
    parts = {"input": step.input, "value": step.value}
    owned = {name: world.values.owned(scope, step.run, part) for name, part in parts.items()}
    return step.model_copy(update=owned)


def _left_out(world: World, run: Run, graph: Graph, key: NodeKey) -> Step:
    """Return the entry of a node that does not run: it answers at once, and counts as skipped."""
    return Step(
        run=run.id,
        node=key,
        type=graph.by_key[key].type,
        status=StepStatus.SKIPPED,
        port=first_port(graph, world.catalogue, key),
    )
