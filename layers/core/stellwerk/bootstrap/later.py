"""What few processes need, and is imported only when they do."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from functools import cached_property
from importlib import import_module
from typing import TYPE_CHECKING, Protocol, cast

from stellwerk.bootstrap.clients import Clients, Stores
from stellwerk.catalogue.model import Catalogue
from stellwerk.config import Settings
from stellwerk.kernel.clock import Clock
from stellwerk.kernel.ids import WorkflowId
from stellwerk.runs.model import Run, Step
from stellwerk.tenancy.notices import Notice
from stellwerk.tenancy.scope import Scope
from stellwerk.workflows.faults import Fault
from stellwerk.workflows.graph import Graph
from stellwerk.workflows.ports import Triggers, Versions

if TYPE_CHECKING:
    from stellwerk.bootstrap.watching import Watching


@dataclass(frozen=True)
class Means:
    """What further services of a process are built with."""

    settings: Settings
    doors: Clients
    stores: Stores
    clock: Clock
    catalogue: Catalogue
    versions: Versions


class LaterTriggers:
    """What arms triggers, imported and built when a workflow changes for the first time."""

    def __init__(self, means: Means) -> None:
        self._means = means

    def changed(self, scope: Scope, workflow: WorkflowId) -> None:
        """Let exactly those triggers fire that the stored workflow wants."""
        self._arming.changed(scope, workflow)

    def faults(self, graph: Graph) -> Iterator[Fault]:
        """Yield what is wrong with parameters of triggers that fits their schemas."""
        yield from self._arming.faults(graph)

    @cached_property
    def _arming(self) -> Triggers:
        return cast("_Arming", import_module("stellwerk.bootstrap.arming")).arming(self._means)


class LaterWatching:
    """What watches runs, imported and built when the first of them ends, or is watched."""

    def __init__(self, means: Means) -> None:
        self._means = means

    @cached_property
    def watching(self) -> Watching:
        """What watches runs."""
        module = cast("_Watching", import_module("stellwerk.bootstrap.watching"))
        return module.watching(self._means)

    def ending(self, scope: Scope, run: Run, steps: Iterable[Step]) -> None:
        """Take in how a run ends."""
        self.watching.following.ending(scope, run, steps)

    def notify(self, scope: Scope, notice: Notice) -> None:
        """Tell people, soon."""
        self.watching.outgoing.notify(scope, notice)

    def due(self, scope: Scope) -> Iterator[Callable[[], object]]:
        """Yield what is to be done at a place: messages to send, runs to remove."""
        yield from self.watching.postman.due(scope)
        yield from self.watching.retiring.due(scope)


class _Watching(Protocol):
    """The module `watching`, as seen from here."""

    def watching(self, means: Means) -> Watching:
        """Return what watches runs."""


class _Arming(Protocol):
    """The module `arming`, as seen from here."""

    def arming(self, means: Means) -> Triggers:
        """Return what arms triggers."""
