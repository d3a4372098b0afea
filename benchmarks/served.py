"""The API as `stellwerk up` serves it, and clients that ask it by HTTP, each on one connection."""

from __future__ import annotations

import gzip
import json
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from http.client import HTTPConnection
from pathlib import Path
from urllib.parse import urlsplit

from benchmarks.counting import Counted, Counting, CountingClients
from localcloud import web
from localcloud.cloud import LocalCloud
from localcloud.issuer.app import CLIENT
from localcloud.issuer.codes import SignIn
from localcloud.issuer.keys import SigningKey
from localcloud.issuer.people import seeded
from localcloud.issuer.requests import Authorization
from localcloud.issuer.tokens import Tokens
from localcloud.seeding.seeds import Seeds
from stellwerk import bootstrap
from stellwerk.aws.bodies import Bodies
from stellwerk.aws.directory import directory
from stellwerk.aws.items import Items
from stellwerk.aws.values import S3Values
from stellwerk.config import Settings
from stellwerk.features.found import FoundFeatures
from stellwerk.kernel.clock import SystemClock
from stellwerk.kernel.json import JsonObject
from stellwerk.tenancy.scope import SEEDED_INSTANCE, SEEDED_MANDATE

PLACE = f"/api/v1/mandates/{SEEDED_MANDATE}/instances/{SEEDED_INSTANCE}"
_UNLIMITED = 10**8
"""Requests in a minute: they are counted as always, and none is refused."""


@dataclass(frozen=True)
class Answered:
    """An answer of the API, and what it cost."""

    tag: str
    body: JsonObject
    ms: float
    cost: Counted
    """Of it, those to the audit are named. True for someone who asks alone."""


@dataclass(frozen=True)
class Caller:
    """Someone who asks the API."""

    connection: HTTPConnection
    token: str = field(repr=False)
    counts: Counting
    audit_table: str

    def ask(
        self,
        method: str,
        path: str,
        *,
        body: JsonObject | None = None,
        match: str = "",
    ) -> Answered:
        """Return the answer to a request below the instance; raises RuntimeError at a problem."""
        headers = {"Authorization": f"Bearer {self.token}", "Accept-Encoding": "gzip"}
        if body is not None:
            headers["Content-Type"] = "application/json"
        if match:
            headers["If-Match"] = match
        text = None if body is None else json.dumps(body).encode()
        before = self.counts.now(self.audit_table)
        began = time.perf_counter()
        self.connection.request(method, PLACE + path, text, headers)
        answer = self.connection.getresponse()
        read = answer.read()
        taken = (time.perf_counter() - began) * 1000
        if answer.status >= 400:
            raise RuntimeError(f"{method} {path}: {answer.status} {read[:500]!r}")
        if answer.headers.get("Content-Encoding") == "gzip":
            read = gzip.decompress(read)
        return Answered(
            tag=answer.headers.get("ETag", ""),
            body=json.loads(read),
            ms=taken,
            cost=self.counts.since(before, self.audit_table),
        )


@dataclass(frozen=True)
class Served:
    """A running API over a local cloud that is seeded as `stellwerk up` does it."""

    cloud: LocalCloud
    counts: Counting
    """What the API asks of DynamoDB, and nobody else."""
    address: str
    tokens: Tokens

    def caller(self, person: str) -> Caller:
        """Return someone with a token that the local issuer signed."""
        found = seeded().find(person)
        if found is None:
            raise LookupError(f"nobody is called {person}")
        asked = Authorization(CLIENT, "", "", "", "", "openid")
        answer = self.tokens.signed_in(SignIn(person, asked, SystemClock().now()), found)
        where = urlsplit(self.address)
        return Caller(
            HTTPConnection(str(where.hostname), where.port),
            str(answer["access_token"]),
            self.counts,
            self.cloud.settings.audit_table,
        )


@contextmanager
def served(folder: Path, *, kept: bool) -> Iterator[Served]:
    """Serve for the block; `folder` has the issuer's key, and what is stored if that is `kept`."""
    with web.listening(0) as listener:
        settings = replace(
            Settings.of({}),
            data=folder,
            issuer=web.address_of(listener) + web.ISSUER,
            rate_limit=_UNLIMITED,
        )
        with LocalCloud(folder if kept else None, settings=settings) as cloud:
            _seed(cloud)
            running = bootstrap.build(settings, cloud.clients)
            bootstrap.services.provide(lambda: running)
            clients = CountingClients(cloud.clients)
            application = web.application(settings, clients.as_clients)
            with web.serving(application, listener) as address:
                key = SigningKey.of(folder)
                tokens = Tokens(settings.issuer, key, seeded(), SystemClock())
                yield Served(cloud, clients.counts, address, tokens)


def _seed(cloud: LocalCloud) -> None:
    settings = cloud.settings
    items = Items(cloud.clients.dynamodb, settings.platform_table)
    people = directory(items, Bodies(S3Values(lambda _: cloud.clients.s3, settings.bucket)))
    features = FoundFeatures().all()
    Seeds(people, features, issuer=settings.issuer, clock=SystemClock()).sow()
