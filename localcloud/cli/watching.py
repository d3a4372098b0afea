"""Following a run until it rests: it is over, or waits for a person or a later time."""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager

from rich.console import Group
from rich.live import Live

from localcloud.cli.arguments import Answer
from localcloud.cli.connection import Connection
from localcloud.cli.output import Output
from localcloud.cli.rendering import run_lines, step_table
from localcloud.cli.views import MECHANISM, RunView, family, open_tasks, run_view
from stellwerk.catalogue.model import Kind
from stellwerk.kernel.errors import BadInput, Conflict
from stellwerk.kernel.ids import NodeKey, RunId, TaskId
from stellwerk.runs.model import Run, RunStatus, StepStatus

CALM = 0.4
"""Seconds for which nothing changes in a run that rests: one state follows another in less."""
_LOOPS = {Kind.FOR_EACH, Kind.WHILE}


class Watch:
    """Looks at a run again and again, and decides tasks as it was told beforehand."""

    def __init__(self, connection: Connection, output: Output, *, live: bool = False) -> None:
        self._services = connection.services
        self._scope = connection.scope
        self._pause = connection.pause
        self._output = output
        self._live = live
        self._answered: set[str] = set()

    def until_rest(self, run_id: RunId, decisions: Mapping[str, Answer] | None = None) -> RunView:
        """Return the run as it rests.

        `decisions` are answers by node or step: a task of such a node, in this run or in one that
        it has called, is decided as soon as it is open.
        """
        with self._shown() as show:
            for view in self._looks(run_id):
                show.update(view)
                if view.run.status is RunStatus.PAUSED and decisions:
                    self._decide(run_id, decisions)
        unasked = sorted(set(decisions or ()) - self._answered)
        if unasked and view.run.status is RunStatus.PAUSED:
            self._output.say(f"not decided, for no task of it has opened: {', '.join(unasked)}")
        return view

    def _looks(self, run_id: RunId) -> Iterator[RunView]:
        before, since = "", time.monotonic()
        while True:
            view = run_view(self._services, self._scope, run_id)
            yield view
            if not view.run.status.open:
                return
            now, state = time.monotonic(), self._state(run_id)
            if state != before:
                before, since = state, now
            if now - since >= CALM and self._waits(run_id):
                return
            time.sleep(self._pause)

    def _state(self, run_id: RunId) -> str:
        runs = family(self._services, self._scope, run_id)
        return " ".join(f"{run.id}{run.revision}{self._revisions(run)}" for run in runs)

    def _revisions(self, run: Run) -> int:
        return sum(step.revision for step in self._services.runs.steps(self._scope, run.id))

    def _waits(self, run_id: RunId) -> bool:
        """Whether something waits, and no node is at work, in the run and those it has called.

        A step that waits in a run which is not paused has got its answer and is about to go on,
        unless it waits for a moment.
        """
        waiting = False
        for run in family(self._services, self._scope, run_id):
            waiting |= run.status is RunStatus.QUEUED
            for step in self._services.runs.steps(self._scope, run.id):
                patient = run.status is RunStatus.PAUSED or self._is_delay(step.type)
                waiting |= step.status is StepStatus.WAITING and patient
                if step.status is StepStatus.RUNNING and not self._is_frame(step.type):
                    return False
        return waiting

    def _is_frame(self, name: str) -> bool:
        declared = self._services.catalogue.find(name)
        return name in MECHANISM or (declared is not None and declared.kind in _LOOPS)

    def _is_delay(self, name: str) -> bool:
        declared = self._services.catalogue.find(name)
        return declared is not None and declared.kind is Kind.DELAY

    def _decide(self, run_id: RunId, decisions: Mapping[str, Answer]) -> None:
        for view in open_tasks(self._services, self._scope, run_id):
            name = view.step if view.step in decisions else view.task.node
            answer = decisions.get(name)
            if answer is not None and self._decided(view.task.id, answer):
                self._answered.add(name)
                self._output.say(f"decided {view.step}: {answer.port}")

    def _decided(self, task: TaskId, answer: Answer) -> bool:
        """Decide a task; False if someone else was faster: the next look shows how it ended."""
        try:
            self._services.tasks.decide(self._scope, task, answer.port, answer.data)
        except Conflict:
            return False
        except BadInput as refused:
            raise BadInput(
                refused.message,
                remedy=f"{refused.remedy}\n"
                f"The run waits for: stellwerk decide {task} PORT --data JSON",
            ) from refused
        return True

    @contextmanager
    def _shown(self) -> Iterator[_Shown]:
        if self._live and self._output.screen.is_terminal:
            with Live(console=self._output.screen, auto_refresh=False, transient=True) as live:
                yield _Table(live)
        elif self._live:
            yield _Lines(self._output)
        else:
            yield _Shown()


class _Shown:
    """Shows nothing: the run is only waited for."""

    def update(self, view: RunView) -> None:
        """Take in how the run stands now."""


class _Table(_Shown):
    """Draws the step table again whenever it has changed."""

    def __init__(self, live: Live) -> None:
        self._live = live

    def update(self, view: RunView) -> None:
        self._live.update(Group(*run_lines(view), step_table(view.nodes)), refresh=True)


class _Lines(_Shown):
    """Writes a line for every change of a node, where there is no terminal to draw on."""

    def __init__(self, output: Output) -> None:
        self._output = output
        self._known: dict[tuple[str, NodeKey], tuple[StepStatus, str | None]] = {}

    def update(self, view: RunView) -> None:
        for each in view.nodes:
            step = each.step
            state = (step.status, step.port)
            if self._known.get((step.path, step.node)) != state:
                self._known[(step.path, step.node)] = state
                port = f" → {step.port}" if step.port else ""
                self._output.say(f"{step.key.text} {step.status}{port}")
