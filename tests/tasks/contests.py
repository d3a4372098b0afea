"""Runs on the local cloud that wait for one answer, and two who both have something to say to it.

Both have read the task as pending before either writes: which one counts is up to the write. In
turn the first has a head start, the second has, and neither.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Protocol, TypeVar, cast

from localcloud.cloud import LocalCloud
from stellwerk import bootstrap
from stellwerk.bootstrap import Services
from stellwerk.kernel.errors import Conflict
from stellwerk.kernel.ids import TaskId, WorkflowId
from stellwerk.kernel.json import JsonObject, JsonValue
from stellwerk.runs.assembly import Assembly
from stellwerk.runs.model import HumanTask, Run
from stellwerk.runs.ports import Tasks
from stellwerk.runs.tasks import TaskService
from stellwerk.tenancy.scope import SEEDED_INSTANCE, SEEDED_MANDATE, of_run
from stellwerk.workflows.compiler import GraphCompiler
from stellwerk.workflows.graph import Graph

T = TypeVar("T")
PATIENCE = 60.0
"""Seconds until something must have happened."""
TOGETHER = 30
"""Runs that wait at the same time."""
ANNA, BEN = (of_run(SEEDED_MANDATE, SEEDED_INSTANCE, name) for name in ("u-anna", "u-ben"))
NOBODY = of_run(SEEDED_MANDATE, SEEDED_INSTANCE, "u-sweeper")


class Side(Protocol):
    """What one of both does."""

    def __call__(self, tasks: TaskService, task: TaskId) -> HumanTask:
        """Do it; raise Conflict if somebody was faster."""


@dataclass
class Starter:
    """Lets two threads write in an order: 0 or 1 is first, 2: as it happens."""

    first: int
    ready: threading.Barrier = field(default_factory=lambda: threading.Barrier(2))
    written: threading.Event = field(default_factory=threading.Event)

    @contextmanager
    def turn(self, contender: int) -> Iterator[None]:
        """Wait until both are here, and until the one with the head start has written."""
        self.ready.wait(PATIENCE)
        if self.first in {0, 1} and contender != self.first:
            assert self.written.wait(PATIENCE)
        try:
            yield
        finally:
            self.written.set()


class Contended:
    """The store of tasks, at whose first end of a task its user waits for the starter."""

    def __init__(self, inner: Tasks, starter: Starter, contender: int) -> None:
        self._inner = inner
        self._starter: Starter | None = starter
        self._contender = contender

    def __getattr__(self, name: str) -> object:
        found = getattr(self._inner, name)
        starter = self._starter
        if name != "close" or starter is None:
            return found

        def close(*args: object, **kwargs: object) -> object:
            self._starter = None
            with starter.turn(self._contender):
                return found(*args, **kwargs)

        return close


@dataclass(frozen=True)
class Told:
    """What came of a contest: the task as it stands, and what either was told."""

    run: Run
    task: HumanTask
    answers: tuple[HumanTask | Conflict, HumanTask | Conflict]

    @property
    def winner(self) -> int:
        """Whose act has ended the task: the one that got it back as he has ended it."""
        ended = [
            index
            for index, answer in enumerate(self.answers)
            if isinstance(answer, HumanTask) and answer.decision == self.task.decision
        ]
        return ended[0]


class Arena:
    """A local cloud with a workflow that asks."""

    def __init__(self, services: Services) -> None:
        self.services = services

    def publish(self, on_expire: str, *, slug: str = "contest", extra: int = 0) -> WorkflowId:
        """Publish a workflow whose ports lead to steps of their names; `extra` adds another."""
        ports = ("approved", "rejected", "expired")
        asking: JsonObject = {
            "assignees": ["*"],
            "due": "P1D",
            "on_expire": on_expire,
            "default": {"nobody": True},
        }
        ends: list[JsonValue] = [
            {"key": f"then_{port}", "type": "data.set", "parameters": {"fields": {"port": port}}}
            for port in ports
        ]
        edges: list[JsonValue] = [{"from": "start", "to": "ask"}]
        edges += [{"from": "ask", "port": port, "to": f"then_{port}"} for port in ports]
        if extra:
            set_: JsonObject = {"fields": {"n": extra}}
            ends.append({"key": f"then_{extra}", "type": "data.set", "parameters": set_})
            edges.append({"from": "then_approved", "to": f"then_{extra}"})
        start: JsonObject = {"key": "start", "type": "trigger.manual"}
        ask: JsonObject = {"key": "ask", "type": "input.approval", "parameters": asking}
        drawn = {"title": f"{slug} {on_expire}", "nodes": [start, ask, *ends], "edges": edges}
        graph = Graph.model_validate(drawn)
        workflow, _ = self.services.workflows.publish(ANNA, graph)
        return workflow.id

    def waiting(self, workflow: WorkflowId, count: int) -> Sequence[HumanTask]:
        """Start so many runs, and return their tasks."""
        runs = [self.services.runs.start(ANNA, workflow) for _ in range(count)]
        return [until(partial(self._task, run)) for run in runs]

    def contest(self, task: HumanTask, sides: tuple[Side, Side], first: int) -> Told:
        """Let both sides act on the task, which one of them ends."""
        starter = Starter(first)
        answers: list[HumanTask | Conflict | None] = [None, None]

        def act(contender: int) -> None:
            world = self.services.assembly.world
            store = cast("Tasks", Contended(world.tasks, starter, contender))
            tasks = Assembly.of(replace(world, tasks=store)).tasks
            try:
                answers[contender] = sides[contender](tasks, task.id)
            except Conflict as conflict:
                answers[contender] = conflict

        threads = [threading.Thread(target=act, args=(number,)) for number in (0, 1)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join(PATIENCE)
        one, other = answers
        assert one is not None
        assert other is not None
        run = until(lambda: self.ended(task))
        stored = self.services.assembly.world.tasks.get(NOBODY, task.id)
        return Told(run, stored, (one, other))

    def fired(self, run: Run) -> set[str]:
        """Return the steps behind the question that have run."""
        return {
            step.node
            for step in self.services.runs.steps(ANNA, run.id)
            if step.node.startswith("then_") and step.done
        }

    def _task(self, run: Run) -> HumanTask | None:
        found = self.services.assembly.world.tasks.of_run(NOBODY, run.id)
        return found[0] if found else None

    def ended(self, task: HumanTask) -> Run | None:
        """Return the run of a task, if it is over."""
        run = self.services.runs.get(ANNA, task.run)
        return None if run.status.open else run


@contextmanager
def arena() -> Iterator[Arena]:
    """Run an arena for the block."""
    with LocalCloud() as cloud:
        services = bootstrap.build(cloud.settings, cloud.clients, compiler=GraphCompiler())
        bootstrap.services.provide(lambda: services)
        yield Arena(services)


def until(look: Callable[[], T | None]) -> T:
    """Return what `look` finds, which it must within the time that there is."""
    end = time.monotonic() + PATIENCE
    while time.monotonic() < end:
        found = look()
        if found is not None:
            return found
        time.sleep(0.005)
    raise AssertionError("it did not happen in time")
