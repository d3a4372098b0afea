"""The states of runs and human tasks: one table each of (from, event, to); the rest is refused.

`docs/states.md` is generated from these tables.
"""

from __future__ import annotations

from enum import StrEnum

from stellwerk.kernel.errors import Conflict
from stellwerk.kernel.transitions import Transition, target
from stellwerk.runs.model import HumanTask, Run, RunStatus, TaskStatus


class RunEvent(StrEnum):
    """What can happen to a run."""

    START = "start"
    QUEUE = "queue"
    ADMIT = "admit"
    WAIT = "wait"
    RESUME = "resume"
    CONTINUE = "continue"
    COMPLETE = "complete"
    FAIL = "fail"
    CANCEL = "cancel"
    REPLAY = "replay"


class TaskEvent(StrEnum):
    """What can happen to a human task."""

    OPEN = "open"
    DECIDE = "decide"
    DELEGATE = "delegate"
    EXPIRE = "expire"
    CANCEL = "cancel"


RUN_TRANSITIONS: tuple[Transition[RunStatus], ...] = (
    Transition(None, RunEvent.START, RunStatus.RUNNING, "a trigger's delivery is recorded"),
    Transition(
        None,
        RunEvent.QUEUE,
        RunStatus.QUEUED,
        "a trigger's delivery is recorded while as many runs are open as a limit allows",
    ),
    Transition(
        RunStatus.QUEUED, RunEvent.ADMIT, RunStatus.RUNNING, "it is the first, and a slot is free"
    ),
    Transition(RunStatus.RUNNING, RunEvent.WAIT, RunStatus.PAUSED, "a first wait opens"),
    Transition(RunStatus.PAUSED, RunEvent.WAIT, RunStatus.PAUSED, "a further wait opens"),
    Transition(RunStatus.PAUSED, RunEvent.RESUME, RunStatus.RUNNING, "the last open wait ends"),
    Transition(
        RunStatus.RUNNING, RunEvent.CONTINUE, RunStatus.RUNNING, "its lost execution starts again"
    ),
    Transition(
        RunStatus.PAUSED, RunEvent.CONTINUE, RunStatus.PAUSED, "its lost execution starts again"
    ),
    Transition(
        RunStatus.RUNNING, RunEvent.COMPLETE, RunStatus.COMPLETED, "its execution succeeded"
    ),
    Transition(
        RunStatus.PAUSED,
        RunEvent.COMPLETE,
        RunStatus.COMPLETED,
        "its execution succeeded while a wait that nobody needs was open",
    ),
    Transition(RunStatus.RUNNING, RunEvent.FAIL, RunStatus.FAILED, "a node failed it"),
    Transition(RunStatus.PAUSED, RunEvent.FAIL, RunStatus.FAILED, "a node failed it"),
    Transition(
        RunStatus.QUEUED, RunEvent.CANCEL, RunStatus.CANCELLED, "a person does not want it any more"
    ),
    Transition(
        RunStatus.RUNNING,
        RunEvent.CANCEL,
        RunStatus.CANCELLED,
        "a person stopped it, or a newer run takes its place",
    ),
    Transition(
        RunStatus.PAUSED,
        RunEvent.CANCEL,
        RunStatus.CANCELLED,
        "a person stopped it or cancelled its task, or a task expired",
    ),
    Transition(
        RunStatus.COMPLETED, RunEvent.REPLAY, RunStatus.COMPLETED, "another run replays its record"
    ),
    Transition(
        RunStatus.FAILED, RunEvent.REPLAY, RunStatus.FAILED, "another run replays its record"
    ),
    Transition(
        RunStatus.CANCELLED, RunEvent.REPLAY, RunStatus.CANCELLED, "another run replays its record"
    ),
)

TASK_TRANSITIONS: tuple[Transition[TaskStatus], ...] = (
    Transition(None, TaskEvent.OPEN, TaskStatus.PENDING, "its node waits for a person"),
    Transition(TaskStatus.PENDING, TaskEvent.OPEN, TaskStatus.PENDING, "its node waits anew"),
    Transition(TaskStatus.PENDING, TaskEvent.DECIDE, TaskStatus.COMPLETED, "a person decides"),
    Transition(
        TaskStatus.PENDING, TaskEvent.DELEGATE, TaskStatus.PENDING, "a person hands it to another"
    ),
    Transition(TaskStatus.PENDING, TaskEvent.EXPIRE, TaskStatus.EXPIRED, "nobody decided in time"),
    Transition(
        TaskStatus.PENDING,
        TaskEvent.CANCEL,
        TaskStatus.CANCELLED,
        "a person cancels it, or its run or branch ends",
    ),
)

_REMEDIES: dict[str, str] = {
    RunEvent.REPLAY: "Cancel the run, or wait until it is over, and replay it then.",
    RunEvent.CONTINUE: "Replay a run that is over; a queued one starts when it is its turn.",
}


def run_after(run: Run, event: RunEvent) -> RunStatus:
    """Return the status of `run` after `event`; raise Conflict naming its state if refused."""
    after = target(RUN_TRANSITIONS, run.status, event)
    if after is None:
        message = f"Run {run.id} is {run.status}: it does not allow '{event}'."
        raise Conflict(message, remedy=_REMEDIES.get(event, "Look at the run: it is over."))
    return after


def task_after(task: HumanTask, event: TaskEvent) -> TaskStatus:
    """Return the status of `task` after `event`; raise Conflict: who ended it, when and how."""
    after = target(TASK_TRANSITIONS, task.status, event)
    if after is None:
        raise refused(task, event)
    return after


def refused(task: HumanTask, event: TaskEvent) -> Conflict:
    """Return the error for a task that is over: it names who ended it, when and how."""
    ending = f"Task {task.id} is {task.status}"
    if task.decision is not None:
        moment = task.decision.at.isoformat(timespec="seconds")
        how = f"{task.decision.by} chose '{task.decision.port}'"
        ending += f": {how if task.decision.by else 'nobody had answered'} at {moment}"
    return Conflict(
        f"{ending}. It does not allow '{event}' any more.",
        remedy="Nothing is left to do: the first answer counts.",
    )
