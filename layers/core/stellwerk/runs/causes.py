"""Why a run ended: what Step Functions reports, and the journal's first unhandled error."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from datetime import datetime

from stellwerk.kernel.errors import RunCancelled, StoppedWithError
from stellwerk.kernel.ids import ROOT, NodeKey, Path
from stellwerk.runs.model import Failure, Step, StepKey, StepStatus
from stellwerk.runs.names import CHUNK_TYPE, SCOPE_TYPE
from stellwerk.workflows.graph import Graph, OnError, enclosing

CANCELLED = RunCancelled.__name__
_MESSAGES = ("errorMessage", "message")
"""Where a cause holds its message: a Lambda's, and a failure under which a token was answered."""
_FATAL = {StoppedWithError.__name__, CANCELLED}
"""Errors that end the run whatever a node says of its errors."""
_FAILED = {StepStatus.FAILED, StepStatus.UNCERTAIN}


def from_execution(
    error: str, cause: str, *, node: NodeKey | None = None, path: Path = ROOT
) -> Failure:
    """Return the failure that Step Functions reports; a cause may be JSON with its message."""
    return Failure(
        type=error or "Unknown",
        message=_message(cause) or "The execution ended without a reason.",
        node=node,
        path=path,
    )


def cancelled(cause: str) -> Failure:
    """Return the failure of a run that was stopped on purpose."""
    return Failure(type=CANCELLED, message=cause)


def failure_in(step: Step) -> Failure | None:
    """Return the error of a step's last attempt, with the step's place; None if there is none."""
    error = step.attempts[-1].error if step.attempts else None
    if error is None:
        return None
    uncertain = error.uncertain or step.status is StepStatus.UNCERTAIN
    place = {"node": error.node or step.node, "path": step.path, "uncertain": uncertain}
    return error.model_copy(update=place)


def first_failure(steps: Iterable[Step], graph: Graph) -> Failure | None:
    """Return the failure that ended first and that no port and no loop around it handles."""
    collected: set[Path] = set()
    done: set[StepKey] = set()
    failed: list[Step] = []
    for step in steps:  # of what may be very many, only what matters is held
        if _collected(step):
            collected.add(step.path)
        if step.done and step.node in graph.children:
            done.add(step.key)
        elif step.status in _FAILED and not step.done and step.type != CHUNK_TYPE:
            failed.append(step)
    found = [
        (_ended(step), step.path, step.node, failure)
        for step in failed
        if not any(path in collected or loop in done for loop, path in _loops(step.path))
        if (failure := failure_in(step)) is not None
        if failure.type in _FATAL or not _is_handled(graph, step)
    ]
    return min(found, key=lambda entry: entry[:3])[3] if found else None


def _is_handled(graph: Graph, step: Step) -> bool:
    """Whether the step's error has a way to go on, even if that is not journaled yet."""
    loops = [loop.node for loop, _ in _loops(step.path)]
    return _handles(graph, step.node) or any(
        _handles(graph, loop) or _collects(graph, loop) for loop in loops
    )


def _handles(graph: Graph, key: NodeKey) -> bool:
    node = graph.by_key.get(key)
    return node is not None and node.on_error is not OnError.FAIL


def _collects(graph: Graph, key: NodeKey) -> bool:
    node = graph.by_key.get(key)
    return node is not None and node.parameters.get("on_item_error") == "collect"


def _loops(place: Path) -> Iterator[tuple[StepKey, Path]]:
    """Yield the entry's key of each loop around `place`, and the path of the pass in it."""
    outer = ROOT
    for loop, _, path in enclosing(place):
        yield StepKey(path=outer, node=loop), path
        outer = path


def _collected(step: Step) -> bool:
    return step.type == SCOPE_TYPE and step.status is StepStatus.FAILED


def _ended(step: Step) -> datetime:
    last = step.attempts[-1]
    return last.ended or last.started


def _message(cause: str) -> str:
    try:
        told = json.loads(cause)
    except ValueError:
        return cause
    found = [told.get(name) for name in _MESSAGES] if isinstance(told, dict) else []
    return next((message for message in found if isinstance(message, str)), cause)
