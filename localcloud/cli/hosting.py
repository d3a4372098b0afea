"""A local cloud in this process, with the product's services on it."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from localcloud.cli.connection import Connection, publishing_services
from localcloud.cloud import LocalCloud
from localcloud.discovery import DataInUse
from localcloud.server import PortInUse
from stellwerk import bootstrap
from stellwerk.config import Settings
from stellwerk.kernel.errors import Conflict
from stellwerk.tenancy.scope import seeded


@contextmanager
def hosted(settings: Settings, port: int | None = None) -> Iterator[Connection]:
    """Run a cloud for the block; runs that were open when the last one ended go on.

    With a port (0: any) others can use it. Raises Conflict if the folder or the port is taken.
    """
    try:
        with LocalCloud(settings.data, port=port, settings=settings, on_start=_go_on) as cloud:
            services = publishing_services(settings, cloud.clients)
            yield Connection(services, seeded(), cloud.endpoint)
    except (DataInUse, PortInUse) as taken:
        raise Conflict(str(taken)) from taken


def _go_on(cloud: LocalCloud) -> None:
    """Let the Lambdas of this process act on the cloud, and continue the runs that are open."""
    services = bootstrap.build(cloud.settings, cloud.clients)
    bootstrap.services.provide(lambda: services)
    scope = seeded()
    for run in list(services.assembly.world.runs.open_runs(scope)):
        services.runs.release_leases(scope, run.id)
        services.runs.continue_(scope, run.id)
