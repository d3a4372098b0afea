"""What a run did, read from its journal."""

from __future__ import annotations

from collections.abc import Sequence

from stellwerk.kernel.json import JsonValue
from stellwerk.kernel.records import Stored
from stellwerk.runs.assembly import Assembly
from stellwerk.runs.model import HumanTask, Run, RunStatus, Step, StepStatus
from stellwerk.runs.names import SCOPE_TYPE
from stellwerk.tenancy.scope import seeded
from tests.proof.alone import Case
from tests.proof.differential import Observed
from tests.proof.outcome import Place, Ran

_OPEN = {StepStatus.RUNNING, StepStatus.WAITING}


def pending(assembly: Assembly, run: Run) -> list[HumanTask]:
    """Return the open tasks of a run in a fixed order."""
    tasks = assembly.tasks.list(seeded(), limit=1000).items
    return sorted((t for t in tasks if t.run == run.id), key=lambda task: (task.path, task.node))


def journaled(
    assembly: Assembly, case: Case, started: Run, *, wrong: Sequence[str] = ()
) -> Observed:
    """Return what the journal says of a run that is over; `wrong` is what is known besides."""
    run = assembly.runs.get(seeded(), started.id)
    steps = list(assembly.runs.steps(seeded(), started.id))
    nodes = {node.key: node.type for node in case.graph.nodes}
    of_nodes = [step for step in steps if nodes.get(step.node) == step.type]
    ran: dict[Place, Ran] = {
        (step.path, step.node): Ran(None, step.port, _value(assembly, step.value))
        for step in of_nodes
        if step.port is not None
    }
    failed = {(s.path, s.node) for s in of_nodes if any(a.error for a in s.attempts)}
    error = run.error
    return Observed(
        completed=run.status is RunStatus.COMPLETED,
        output=_value(assembly, run.output),
        ran=ran,
        failed=failed,
        error=(error.type, (error.path, error.node)) if error and error.node else None,
        wrong=[*wrong, *_left_over(assembly, run, steps)],
        inputs=False,
    )


def _value(assembly: Assembly, stored: Stored | None) -> JsonValue:
    return None if stored is None else assembly.runs.value(seeded(), stored)


def _left_over(assembly: Assembly, run: Run, steps: Sequence[Step]) -> list[str]:
    """Return what is still open although the run is over, and what ran more than once."""
    open_ = [step for step in steps if step.status in _OPEN and step.type != SCOPE_TYPE]
    found = [f"{step.key.text} is left {step.status}" for step in open_]
    twice = [step for step in steps if len(step.attempts) > 1]
    found += [f"{step.key.text} was tried {len(step.attempts)} times" for step in twice]
    found += [f"the task of {task.node} is left open" for task in pending(assembly, run)]
    if run.status.open or run.waits:
        found.append(f"the run is left {run.status} with {run.waits} waits")
    return found
