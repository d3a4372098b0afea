"""A local cloud in this process, with the product's services on it."""

from __future__ import annotations

import logging
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import replace
from datetime import timedelta

from localcloud import web
from localcloud.cli.connection import (
    Connection,
    local_audit,
    local_scope,
    publishing_services,
)
from localcloud.cloud import LocalCloud
from localcloud.discovery import DataInUse
from localcloud.seeding.seeds import Seeds
from localcloud.server import PortInUse
from stellwerk import bootstrap
from stellwerk.aws.bodies import Bodies
from stellwerk.aws.directory import directory
from stellwerk.aws.items import Items
from stellwerk.aws.values import S3Values
from stellwerk.bootstrap import Services
from stellwerk.bootstrap.scheduling import schedule_services
from stellwerk.config import Settings
from stellwerk.features.found import FoundFeatures
from stellwerk.kernel.clock import SystemClock
from stellwerk.kernel.errors import Conflict, StellwerkError
from stellwerk.runs.deadline import Deadline
from stellwerk.runs.model import Run, RunStatus
from stellwerk.tenancy.scope import Scope

LOG = logging.getLogger(__name__)
LONG = 600.0
"""Seconds that the look for what was missed may take at the start."""


@contextmanager
def hosted(
    settings: Settings, port: int | None = None, *, api_port: int | None = None
) -> Iterator[Connection]:
    """Run a cloud for the block; runs that were open when the last one ended go on.

    With a port (0: any) others can use it; with `api_port` its API is served, and the issuer of
    that API's tokens. Raises Conflict if the folder or a port is taken.
    """
    try:
        with ExitStack() as stack:
            listener = None
            if api_port is not None:
                listener = stack.enter_context(web.listening(api_port))
                settings = replace(settings, issuer=web.address_of(listener) + web.ISSUER)
            cloud = stack.enter_context(
                LocalCloud(settings.data, port=port, settings=settings, on_start=_go_on)
            )
            api = None
            if listener is not None:
                application = web.application(settings, cloud.clients)
                api = stack.enter_context(web.serving(application, listener))
            services = publishing_services(settings, cloud.clients)
            audit = local_audit(settings, cloud.clients)
            yield Connection(services, local_scope(), audit, cloud.endpoint, api)
    except (DataInUse, PortInUse) as taken:
        raise Conflict(str(taken)) from taken


def _go_on(cloud: LocalCloud) -> None:
    """Let the Lambdas of this process act on the cloud; continue the open runs of all mandates."""
    seed(cloud)
    services = bootstrap.build(cloud.settings, cloud.clients)
    bootstrap.services.provide(lambda: services)
    for scope in services.assembly.rounds.everywhere():
        for run in list(services.assembly.world.runs.open_runs(scope)):
            if run.status is not RunStatus.QUEUED:
                _continue(services, scope, run)
    _look(services)


def _look(services: Services) -> None:
    """Register all schedules, which the cloud forgets; what was due meanwhile gets its row."""
    rounds = schedule_services(services).rounds
    try:
        rounds.at_once(Deadline.within(rounds.clock, LONG), grace=timedelta(), afresh=True)
    except StellwerkError:
        LOG.exception("not all schedules could be looked at: the next round does")


def _continue(services: Services, scope: Scope, run: Run) -> None:
    """Continue a run; one that cannot be must not keep the cloud down: the sweeper comes again."""
    try:
        services.runs.release_leases(scope, run.id)
        services.runs.continue_(scope, run.id)
    except StellwerkError:
        LOG.exception("run %s of mandate %s could not be continued", run.id, scope.mandate)


def seed(cloud: LocalCloud) -> None:
    """Write the seeded companies, unless they are there."""
    settings = cloud.settings
    items = Items(cloud.clients.dynamodb, settings.platform_table)
    bodies = Bodies(S3Values(lambda _: cloud.clients.s3, settings.bucket))
    features = FoundFeatures().all()
    stores = directory(items, bodies)
    Seeds(stores, features, issuer=settings.issuer, clock=SystemClock()).sow()
