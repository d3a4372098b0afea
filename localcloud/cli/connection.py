"""The services on the running local cloud, or on one that lives as long as the command."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import AbstractContextManager, ExitStack, contextmanager
from dataclasses import dataclass
from importlib import import_module
from typing import Protocol, cast

from localcloud.clients import BotoClients
from localcloud.discovery import find_running
from stellwerk import bootstrap
from stellwerk.bootstrap import Clients, Services
from stellwerk.config import Settings
from stellwerk.kernel.errors import Conflict
from stellwerk.tenancy.scope import Scope, seeded
from stellwerk.workflows.compiler import GraphCompiler

PATIENCE = 10.0
"""Seconds to wait for another short command that works on the same data."""


@dataclass(frozen=True)
class Connection:
    """Services, and in whose name they are used.

    `endpoint` None: only this process has them. `api` is where their API is served, if it is.
    """

    services: Services
    scope: Scope
    endpoint: str | None = None
    api: str | None = None


class Hosting(Protocol):
    """The module `hosting`, as seen from here."""

    def hosted(
        self, settings: Settings, port: int | None = None, *, api_port: int | None = None
    ) -> AbstractContextManager[Connection]:
        """Run a cloud for the block."""


def hosting() -> Hosting:
    """Return the module that runs clouds: its imports take seconds that others need not wait."""
    return cast("Hosting", import_module("localcloud.cli.hosting"))


@contextmanager
def connected() -> Iterator[Connection]:
    """Use the cloud that runs on the data folder; without one, one of our own for the block.

    Raises Conflict if another process keeps the folder to itself for too long.
    """
    settings = Settings.from_environment()
    with ExitStack() as stack:
        yield _running(settings) or _own(settings, stack)


def publishing_services(settings: Settings, clients: Clients) -> Services:
    """Return services that can also publish."""
    return bootstrap.build(settings, clients, compiler=GraphCompiler())


def _running(settings: Settings) -> Connection | None:
    found = find_running(settings.data)
    if found is None:
        return None
    services = publishing_services(settings, BotoClients(found.endpoint))
    return Connection(services, seeded(), found.endpoint)


def _own(settings: Settings, stack: ExitStack) -> Connection:
    until = time.monotonic() + PATIENCE
    while True:
        try:
            return stack.enter_context(hosting().hosted(settings))
        except Conflict:
            if (found := _running(settings)) is not None:
                return found
            if time.monotonic() > until:
                raise
            time.sleep(0.1)
