"""What few processes need, and is imported only when they do."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from importlib import import_module
from typing import Protocol, cast

from stellwerk.bootstrap.clients import Clients, Stores
from stellwerk.catalogue.model import Catalogue
from stellwerk.config import Settings
from stellwerk.kernel.clock import Clock
from stellwerk.kernel.ids import WorkflowId
from stellwerk.tenancy.scope import Scope
from stellwerk.workflows.ports import Triggers, Versions


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

    @cached_property
    def _arming(self) -> Triggers:
        return cast("_Arming", import_module("stellwerk.bootstrap.arming")).arming(self._means)


class _Arming(Protocol):
    """The module `arming`, as seen from here."""

    def arming(self, means: Means) -> Triggers:
        """Return what arms triggers."""
