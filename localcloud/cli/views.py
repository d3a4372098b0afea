"""Records as a person looks at them: values loaded, times and errors at hand."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime

from localcloud.cli.desk import Desk
from stellwerk.kernel.errors import NotFound
from stellwerk.kernel.ids import RunId
from stellwerk.kernel.json import JsonObject, JsonValue
from stellwerk.kernel.records import Stored
from stellwerk.runs.ballots import progress
from stellwerk.runs.calls import task_id
from stellwerk.runs.model import Failure, HumanTask, Run, Step, StepStatus, TaskStatus
from stellwerk.runs.names import CHUNK_TYPE, GATE_TYPE, SCOPE_TYPE
from stellwerk.tenancy.scope import Scope

MECHANISM = frozenset({CHUNK_TYPE, GATE_TYPE, SCOPE_TYPE})
"""Types of journal entries that are not executions of a node."""
_HIDDEN = {"value", "input", "token", "lease", "revision", "attempts"}


@dataclass(frozen=True)
class StepView:
    """An entry of the journal with its values. What a trigger received is its `input`."""

    step: Step
    input: JsonValue
    value: JsonValue

    @property
    def started(self) -> datetime | None:
        """When it was first tried."""
        return self.step.attempts[0].started if self.step.attempts else None

    @property
    def ended(self) -> datetime | None:
        """When its last try ended."""
        return self.step.attempts[-1].ended if self.step.attempts else None

    @property
    def called(self) -> RunId | None:
        """The run that it has called as a sub-workflow."""
        child = None if self.step.type in MECHANISM else self.step.child
        return RunId(child) if child else None

    @property
    def error(self) -> Failure | None:
        """The error of its last try."""
        return self.step.attempts[-1].error if self.step.attempts else None

    def as_json(self) -> JsonObject:
        """Return it for machines."""
        shown: JsonObject = self.step.model_dump(mode="json", exclude=_HIDDEN)
        tries: list[JsonValue] = [each.model_dump(mode="json") for each in self.step.attempts]
        values: JsonObject = {"input": self.input, "output": self.value, "attempts": tries}
        return {"step": self.step.key.text, **shown, **values}


@dataclass(frozen=True)
class RunView:
    """A run with its steps in the order in which they began."""

    run: Run
    input: JsonValue
    output: JsonValue
    steps: tuple[StepView, ...]
    cursor: str | None = None
    """Where its further steps begin, if there are more than are shown at once."""

    @property
    def nodes(self) -> tuple[StepView, ...]:
        """The executions of nodes, without the entries by which loops and gates work."""
        return tuple(view for view in self.steps if view.step.type not in MECHANISM)

    def as_json(self) -> JsonObject:
        """Return it for machines."""
        shown = run_json(self.run)
        steps: list[JsonValue] = [view.as_json() for view in self.nodes]
        more: JsonObject = {"cursor": self.cursor} if self.cursor else {}
        return {**shown, "input": self.input, "output": self.output, "steps": steps, **more}


@dataclass(frozen=True)
class TaskView:
    """A task with the title of its workflow."""

    task: HumanTask
    workflow: str

    @property
    def step(self) -> str:
        """Which step asks, as `lines[3].check`."""
        return f"{self.task.path}.{self.task.node}" if self.task.path else self.task.node

    @property
    def fields(self) -> tuple[str, ...]:
        """The names of what its form asks for."""
        return self._names("properties")

    @property
    def required(self) -> tuple[str, ...]:
        """The names of what its form insists on."""
        return self._names("required")

    def _names(self, part: str) -> tuple[str, ...]:
        named = (self.task.form or {}).get(part)
        return tuple(str(name) for name in named) if isinstance(named, dict | list) else ()

    def as_json(self) -> JsonObject:
        """Return it for machines, without the token that only Step Functions may see."""
        hidden = {"token", "revision", "news"}
        shown: JsonObject = self.task.model_dump(mode="json", exclude=hidden)
        return {**shown, "progress": progress(self.task.quorum, self.task.votes), "step": self.step}


def run_json(run: Run) -> JsonObject:
    """Return a run without its values, for machines."""
    shown: JsonObject = run.model_dump(mode="json", exclude={"input", "output", "revision"})
    return shown


def run_view(services: Desk, scope: Scope, run_id: RunId, *, cursor: str | None = None) -> RunView:
    """Return the run with a thousand of its steps; raise NotFound if there is no such run."""
    run = services.runs.get(scope, run_id)

    def load(stored: Stored | None) -> JsonValue:
        return services.runs.value(scope, stored) if stored is not None else None

    received = load(run.input)
    page = services.runs.page(scope, run_id, cursor=cursor)
    steps = [
        StepView(step, received if _began(run, step) else load(step.input), load(step.value))
        for step in page.items
    ]
    return RunView(run, received, load(run.output), tuple(steps), page.cursor)


def open_tasks(services: Desk, scope: Scope, run_id: RunId) -> Sequence[TaskView]:
    """Return the pending tasks of a run and of the runs that it has called and waits for."""
    return [
        TaskView(task, run.title)
        for run in family(services, scope, run_id)
        for task in _tasks(services, scope, run)
        if task.status is TaskStatus.PENDING
    ]


def caller(services: Desk, scope: Scope, run_id: RunId) -> RunId:
    """Return the run that, through others or by itself, called the run; itself if none did."""
    run = services.runs.get(scope, run_id)
    while run.parent is not None:
        run = services.runs.get(scope, run.parent.run)
    return run.id


def _began(run: Run, step: Step) -> bool:
    """Return whether the step is the trigger that started the run."""
    return not step.path and step.node == run.trigger.node


def _tasks(services: Desk, scope: Scope, run: Run) -> Iterator[HumanTask]:
    for step in services.runs.steps(scope, run.id):
        if step.status is StepStatus.WAITING and step.token and not step.child:
            try:
                yield services.tasks.get(scope, task_id(run.id, step.key, step.generation))
            except NotFound:
                continue  # it waits for something else than a person


def family(services: Desk, scope: Scope, run_id: RunId) -> Iterator[Run]:
    """Yield a run and the open runs below it that it waits for, the run first."""
    run = services.runs.get(scope, run_id)
    yield run
    for step in services.runs.steps(scope, run_id):
        if step.child and step.type not in MECHANISM and not step.done:
            yield from family(services, scope, RunId(step.child))
