"""What a finished run has come to: its output, and the nodes that it never reached."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import groupby

from stellwerk.catalogue.model import Catalogue, Kind
from stellwerk.kernel.ids import ROOT, NodeKey, Path, RunId
from stellwerk.runs.model import Step, StepKey, StepStatus
from stellwerk.runs.names import SCOPE_TYPE
from stellwerk.workflows.graph import ERROR_PORT, OUT_PORT, Graph, Node, enclosing


def stop_entry(graph: Graph, catalogue: Catalogue, entries: Mapping[StepKey, Step]) -> Step | None:
    """Return the entry of the `flow.stop` node that ended the run with success, if one did."""
    for node in graph.children[None]:
        declared = catalogue.find(node.type)
        entry = entries.get(StepKey(path=ROOT, node=node.key))
        if entry is None or not _fired(entry):
            continue
        if declared is not None and declared.kind is Kind.STOP:
            return entry
    return None


def end_entries(graph: Graph, entries: Mapping[StepKey, Step]) -> list[Step]:
    """Return the entries of the live end nodes at the top level."""
    found = (entries.get(StepKey(path=ROOT, node=node.key)) for node in graph.children[None])
    fired = [entry for entry in found if entry is not None and _fired(entry)]
    return [entry for entry in fired if _ends(graph, entry, _left_out(entries))]


def unreached(graph: Graph, steps: Iterable[Step], run: RunId, *, execution: int) -> Iterator[Step]:
    """Yield a skipped entry for each node that did not run, at the top and in passes that ran.

    `steps` are all entries of the run, those of one place together: of so many only the entries of
    one place are held at a time.
    """
    top = False
    for path, together in groupby(steps, key=lambda step: step.path):
        top = top or path == ROOT
        entries = list(together)
        yield from _lacking(_nodes(graph, path, entries), entries, run, path, execution)
    if not top:
        yield from _lacking(graph.children[None], [], run, ROOT, execution)


def _lacking(
    nodes: Iterable[Node], entries: Sequence[Step], run: RunId, path: Path, execution: int
) -> Iterator[Step]:
    known = {step.node for step in entries}
    for node in nodes:
        if node.key not in known:
            yield Step(
                run=run,
                path=path,
                node=node.key,
                type=node.type,
                status=StepStatus.SKIPPED,
                execution=execution,
            )


def _nodes(graph: Graph, path: Path, entries: Sequence[Step]) -> Sequence[Node]:
    """Return the nodes at a place: none where the pass of a loop did not run."""
    if path == ROOT:
        return graph.children[None]
    *_, (loop, _, _) = enclosing(path)
    ran = any(step.type == SCOPE_TYPE and _ran(step) for step in entries)
    return graph.children.get(loop, ()) if ran else ()


def _ran(scope: Step) -> bool:
    return scope.status is not StepStatus.FAILED and scope.port != OUT_PORT


def _fired(entry: Step) -> bool:
    """Whether the node has fired its port, and was not left out of a partial run."""
    return entry.done and entry.status is not StepStatus.SKIPPED


def _left_out(entries: Mapping[StepKey, Step]) -> set[NodeKey]:
    return {entry.node for entry in entries.values() if entry.done and not _fired(entry)}


def _ends(graph: Graph, entry: Step, left_out: set[NodeKey]) -> bool:
    """Whether nothing but an error handler follows the node, and not even that has now."""
    edges = graph.outgoing.get(entry.node, ())
    ports = {edge.port for edge in edges if edge.target not in left_out}
    return ports <= {ERROR_PORT} and entry.port not in ports


def first_port(graph: Graph, catalogue: Catalogue, key: NodeKey) -> str:
    """Return the port that node `key` fires where nothing else decides; `out` if unknown."""
    node = graph.by_key[key]
    declared = catalogue.find(node.type)
    ports = declared.ports_for(node.parameters) if declared is not None else ()
    return next(iter(ports), OUT_PORT)
