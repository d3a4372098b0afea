"""The services: at an API, on the running local cloud, or on one that lives for the command."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import AbstractContextManager, ExitStack, contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from importlib import import_module
from typing import Protocol, cast

from localcloud.cli.desk import AuditReader, Desk
from localcloud.clients import BotoClients
from localcloud.discovery import find_running
from localcloud.seeding.people import COMPANIES
from stellwerk import bootstrap
from stellwerk.aws.audit import DynamoAuditLog
from stellwerk.aws.connections import DynamoConnections
from stellwerk.aws.items import Items
from stellwerk.bootstrap import Clients, Services
from stellwerk.config import Settings
from stellwerk.kernel.clock import SystemClock
from stellwerk.kernel.errors import Conflict
from stellwerk.tenancy.audit import AuditService
from stellwerk.tenancy.scope import SEEDED_INSTANCE, SEEDED_MANDATE, SEEDED_USER, Scope, of_run
from stellwerk.toolboxes.known import CONNECTION, KnownConnections
from stellwerk.workflows.compiler import GraphCompiler

PATIENCE = 10.0
"""Seconds to wait for another short command that works on the same data."""


@dataclass(frozen=True)
class Target:
    """Where commands act: at an API, or without one on the local cloud of the data folder."""

    api: str | None = None
    mandate: str | None = None
    instance: str | None = None


TARGET: ContextVar[Target] = ContextVar("target", default=Target())  # noqa: B039 (it is frozen)
"""What was said before the command: `stellwerk --api URL runs`."""


@dataclass(frozen=True)
class Connection:
    """Services, and in whose name they are used.

    `endpoint` None: only this process has them. `api` is where their API is served, if it is.
    `pause` is how many seconds to let go by between two looks at something that changes.
    """

    services: Desk
    scope: Scope
    audit: AuditReader
    endpoint: str | None = None
    api: str | None = None
    pause: float = 0.05


class Hosting(Protocol):
    """The module `hosting`, as seen from here."""

    def hosted(
        self, settings: Settings, port: int | None = None, *, api_port: int | None = None
    ) -> AbstractContextManager[Connection]:
        """Run a cloud for the block."""


def hosting() -> Hosting:
    """Return the module that runs clouds: its imports take seconds that others need not wait."""
    return cast("Hosting", import_module("localcloud.cli.hosting"))


class Remote(Protocol):
    """The module `remote_connection`, as seen from here."""

    def connected(self, target: Target) -> AbstractContextManager[Connection]:
        """Use the target's API for the block."""


def remotely() -> Remote:
    """Return the module that reaches APIs, imported by commands that do."""
    return cast("Remote", import_module("localcloud.cli.remote_connection"))


@contextmanager
def connected() -> Iterator[Connection]:
    """Use the API that was named, else the cloud that runs on the data folder, else one of our own.

    The latter lives for the block. Raises Conflict if another process keeps the folder to itself
    for too long; Unauthenticated where nobody is signed in at the API.
    """
    target = TARGET.get()
    settings = Settings.from_environment()
    with ExitStack() as stack:
        if target.api:
            yield stack.enter_context(remotely().connected(target))
        else:
            yield _running(settings) or _own(settings, stack)


def local_audit(settings: Settings, clients: Clients) -> AuditService:
    """Return what reads the audit of a local cloud."""
    log = DynamoAuditLog(Items(clients.dynamodb, settings.audit_table))
    return AuditService(log, SystemClock())


def local_scope() -> Scope:
    """Return in whose name commands act on a local cloud, with all rights at the chosen place.

    It is the first person of a seeded company there, who may own what starts by itself.
    """
    target = TARGET.get()
    mandate = target.mandate or SEEDED_MANDATE
    known = (company.people[0].id for company in COMPANIES if company.id == mandate)
    return of_run(mandate, target.instance or SEEDED_INSTANCE, next(known, SEEDED_USER))


def publishing_services(settings: Settings, clients: Clients) -> Services:
    """Return services that can also publish."""
    connections = DynamoConnections(Items(clients.dynamodb, settings.platform_table))
    things = {CONNECTION: KnownConnections(connections)}
    return bootstrap.build(settings, clients, compiler=GraphCompiler(), things=things)


def _running(settings: Settings) -> Connection | None:
    found = find_running(settings.data)
    if found is None:
        return None
    services = publishing_services(settings, BotoClients(found.endpoint))
    audit = local_audit(settings, BotoClients(found.endpoint))
    return Connection(services, local_scope(), audit, found.endpoint)


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
