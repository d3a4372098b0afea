"""The services that watch runs. Imported only where somebody watches, or a run ends."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property, partial
from typing import cast

import botocore.session

from stellwerk.aws.bodies import Bodies
from stellwerk.aws.directory import directory
from stellwerk.aws.journal import DynamoJournal
from stellwerk.aws.mail import Ses, SesMail
from stellwerk.aws.notices import DynamoOutbox
from stellwerk.aws.remains import DynamoRemains
from stellwerk.aws.run_events import DynamoEventLog
from stellwerk.aws.runs import DynamoRuns
from stellwerk.aws.tallies import DynamoTallies
from stellwerk.bootstrap.clients import PATIENCE
from stellwerk.bootstrap.later import Means
from stellwerk.config import Settings
from stellwerk.kernel.clock import Clock
from stellwerk.runs.service import RunService
from stellwerk.watching.bundles import Outbox
from stellwerk.watching.channels import (
    NoMail,
    Posted,
    SmtpMail,
    as_json,
    for_slack,
    for_teams,
)
from stellwerk.watching.following import Following
from stellwerk.watching.monitoring import Monitoring
from stellwerk.watching.people import KnownPeople
from stellwerk.watching.projecting import Projector
from stellwerk.watching.reading import Events
from stellwerk.watching.retention import Retiring
from stellwerk.watching.tallies import Tallies
from stellwerk.watching.telling import Channel, Outgoing, Postman


@dataclass(frozen=True)
class Watching:
    """What watches runs."""

    bodies: Bodies
    log: DynamoEventLog
    projector: Projector
    tallies: Tallies
    outbox: Outbox
    outgoing: Outgoing
    postman: Postman
    following: Following
    retiring: Retiring
    monitoring: Monitoring
    clock: Clock

    def events_for(self, runs: RunService) -> Events:
        """Return what reads event logs of runs that may be read by a service."""
        return Events(self.log, self.projector, runs, self.clock)


def watching(means: Means) -> Watching:
    """Return what watches the runs of a deployment."""
    settings, stores, clock = means.settings, means.stores, means.clock
    items, bodies = stores.items(settings.runs_table), Bodies(stores.values)
    runs, log, outbox = (
        DynamoRuns(items, bodies),
        DynamoEventLog(items),
        DynamoOutbox(items, bodies),
    )
    tallies, outgoing = DynamoTallies(items), Outgoing(outbox, clock)
    people = directory(stores.items(settings.platform_table), bodies)
    return Watching(
        bodies=bodies,
        log=log,
        projector=Projector(log, DynamoJournal(items, bodies), runs, clock),
        tallies=tallies,
        outbox=outbox,
        outgoing=outgoing,
        postman=Postman(outbox, KnownPeople(people), _channels(means), clock),
        following=Following(tallies, means.versions, outgoing),
        retiring=Retiring(
            tallies,
            DynamoRemains(items, stores.s3, settings.bucket),
            runs,
            means.versions,
            clock,
        ),
        monitoring=Monitoring(tallies, outbox, runs, means.versions, people.mandates, clock),
        clock=clock,
    )


def _channels(means: Means) -> Mapping[str, Channel]:
    settings = means.settings
    posted = partial(Posted, editor=settings.editor, allowed=settings.http_allow, clock=means.clock)
    return {
        "mail": _mail(settings),
        "webhook": posted(as_json),
        "slack": posted(for_slack),
        "teams": posted(for_teams),
    }


def _mail(settings: Settings) -> Channel:
    if not settings.mail_from:
        return NoMail()
    if settings.smtp:
        return SmtpMail(settings.smtp, settings.mail_from, settings.editor)
    return SesMail(_SesDoor(settings).client, settings.mail_from, settings.editor)


class _SesDoor:
    """The door to SES, opened for the first mail."""

    def __init__(self, settings: Settings) -> None:
        self._settings = settings

    def client(self) -> Ses:
        """Return the client."""
        return self._client

    @cached_property
    def _client(self) -> Ses:
        made = botocore.session.Session().create_client(
            "sesv2",
            region_name=self._settings.region,
            endpoint_url=self._settings.endpoint_url,
            config=PATIENCE,
        )
        return cast("Ses", made)
