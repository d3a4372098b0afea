"""The services on the running local cloud, or on one that lives as long as the command."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass

from localcloud.clients import BotoClients
from localcloud.cloud import LocalCloud
from localcloud.discovery import DataInUse, find_running
from localcloud.server import PortInUse
from stellwerk import bootstrap
from stellwerk.bootstrap import Services
from stellwerk.config import Settings
from stellwerk.kernel.errors import Conflict
from stellwerk.tenancy.scope import Scope, seeded
from stellwerk.workflows.compiler import GraphCompiler

PATIENCE = 10.0
"""Seconds to wait for another short command that works on the same data."""


@dataclass(frozen=True)
class Connection:
    """Services, and in whose name they are used. `endpoint` None: only this process has them."""

    services: Services
    scope: Scope
    endpoint: str | None = None


@contextmanager
def connected() -> Iterator[Connection]:
    """Use the cloud that runs on the data folder; without one, one of our own for the block.

    Raises Conflict if another process keeps the folder to itself for too long.
    """
    settings = Settings.from_environment()
    with ExitStack() as stack:
        yield _running(settings) or _own(settings, stack)


@contextmanager
def hosted(settings: Settings, *, port: int | None = None) -> Iterator[Connection]:
    """Run a cloud for the block; runs that were open when the last one ended go on.

    With a port (0: any) others can use it. Raises Conflict if the folder or the port is taken.
    """
    try:
        with LocalCloud(settings.data, port=port, settings=settings, on_start=_go_on) as cloud:
            yield Connection(_services(cloud), seeded(), cloud.endpoint)
    except (DataInUse, PortInUse) as taken:
        raise Conflict(str(taken)) from taken


def _running(settings: Settings) -> Connection | None:
    found = find_running(settings.data)
    if found is None:
        return None
    clients = BotoClients(found.endpoint)
    services = bootstrap.build(settings, clients, compiler=GraphCompiler())
    return Connection(services, seeded(), found.endpoint)


def _own(settings: Settings, stack: ExitStack) -> Connection:
    until = time.monotonic() + PATIENCE
    while True:
        try:
            return stack.enter_context(hosted(settings))
        except Conflict:
            if (found := _running(settings)) is not None:
                return found
            if time.monotonic() > until:
                raise
            time.sleep(0.1)


def _services(cloud: LocalCloud) -> Services:
    return bootstrap.build(cloud.settings, cloud.clients, compiler=GraphCompiler())


def _go_on(cloud: LocalCloud) -> None:
    """Let the Lambdas of this process act on the cloud, and continue the runs that are open."""
    services = _services(cloud)
    bootstrap.services.provide(lambda: services)
    scope = seeded()
    for run in list(services.assembly.world.runs.open_runs(scope)):
        services.runs.release_leases(scope, run.id)
        services.runs.continue_(scope, run.id)
