"""A local cloud with the two seeded companies, the API over it, and tokens of the local issuer."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import TypeAlias

from fastapi import FastAPI
from fastapi.testclient import TestClient
from moto.s3.models import s3_backends

from api.app import create_app
from api.backend import Backend
from api.identity import Verifier
from localcloud.cloud import LocalCloud
from localcloud.issuer.app import CLIENT, create_issuer
from localcloud.issuer.codes import SignIn
from localcloud.issuer.keys import SigningKey
from localcloud.issuer.people import Company, People, Person, seeded
from localcloud.issuer.requests import Authorization
from localcloud.issuer.tokens import AUDIENCE, Tokens
from localcloud.lambdas import ACCOUNT
from localcloud.seeding.seeds import Seeds
from stellwerk import bootstrap
from stellwerk.aws.audit import DynamoAuditLog
from stellwerk.aws.items import Items
from stellwerk.bootstrap.serving import ApiServices, serve
from stellwerk.config import Settings
from stellwerk.kernel.clock import SystemClock
from stellwerk.kernel.ids import MandateId
from stellwerk.tenancy.evidence import AuditRecord
from stellwerk.tenancy.scope import of_platform
from tests.fakes.clock import FixedClock
from tests.fakes.graph import Microsoft, microsoft

ISSUER = "http://127.0.0.1:1/oidc"
MANDATE = "/api/v1/mandates/m-demo"
HERE = f"{MANDATE}/instances/i-demo"
NEIGHBOUR = f"{MANDATE}/instances/i-demo-auto"
NORD = "/api/v1/mandates/m-nord"
THERE = f"{NORD}/instances/i-nord"
ANY: Mapping[str, str] = {"If-Match": "*"}
NEXT_DOOR = Person("s-next-door", "Nadia Nebenan", "nadia@muster.example", "user")
"""Belongs to m-demo, and administrates i-demo-auto there."""
SPEAKERS = {
    "mandate": "u-nord-admin",
    "instance": NEXT_DOOR.subject,
    "viewer": "u-demo-viewer",
    "user": "u-demo-user",
    "own": "u-demo-user",
    "admin": "u-demo",
    "root": "u-root",
}
"""The subjects of those principals whose tokens hold."""
State: TypeAlias = Mapping[str, object]


@dataclass(frozen=True)
class World:
    """The application over the cloud, and who speaks to it."""

    cloud: LocalCloud
    services: ApiServices
    app: FastAPI = field(repr=False)
    tokens: Mapping[str, str] = field(repr=False)
    """By subject, and by the names of the principals whose tokens do not hold."""

    def client(self, speaker: str = "") -> TestClient:
        """Return a client with the token of a speaker, or with none."""
        header = {"Authorization": f"Bearer {self.tokens[speaker]}"} if speaker else {}
        return TestClient(self.app, headers={**header, **ANY}, raise_server_exceptions=False)

    def state(self) -> State:
        """Return all that is stored, the audit left out: an item that is written is another one."""
        settings, tables = self.cloud.settings, self.cloud.dynamodb.tables
        names = (settings.platform_table, settings.runs_table)
        objects = s3_backends[ACCOUNT]["aws"].buckets[settings.bucket].keys
        return {
            **{name: dict(tables.get(name).items) for name in names},
            "objects": {name: objects[name].etag for name in objects},
            "machines": {machine.arn for machine in self.cloud.machines.state_machines},
            "running": {one.execution_arn for one in self.cloud.machines.running()},
        }

    def records(self, mandate: str) -> list[AuditRecord]:
        """Return all that is in the audit of a mandate."""
        table = self.services.settings.audit_table
        log = DynamoAuditLog(Items(self.cloud.clients.dynamodb, table))
        scope = of_platform(MandateId(mandate))
        entries = (entry for day in log.days(scope) for entry in log.entries(scope, day))
        return [entry.record for entry in entries if entry.record is not None]


@contextmanager
def world(folder: Path) -> Iterator[World]:
    """Run a seeded cloud for the block; the issuer keeps its key in `folder`."""
    with microsoft() as server:
        yield from _world(folder, server)


def _world(folder: Path, server: Microsoft) -> Iterator[World]:
    environment = {"STELLWERK_ISSUER": ISSUER, "STELLWERK_CLIENTS": AUDIENCE}
    settings = replace(Settings.of(environment | server.environment), rate_limit=0)
    everybody = People([*seeded().companies, Company("", (NEXT_DOOR,))])
    fetch = _pages(folder, everybody)
    with LocalCloud(settings=settings) as cloud:
        running = bootstrap.build(settings, cloud.clients)
        bootstrap.services.provide(lambda: running)
        services = serve(settings, cloud.clients)
        Seeds(services.directory, services.features.all(), issuer=ISSUER, clock=SystemClock()).sow()
        backend = Backend(services, Verifier(ISSUER, settings.clients, fetch=fetch))
        made = World(cloud, services, create_app(backend), _tokens(folder, everybody))
        _let_in(made)
        yield made


def _pages(folder: Path, everybody: People) -> Callable[[str], bytes]:
    """Return what fetches pages of the issuer."""
    pages = TestClient(create_issuer(ISSUER, data=folder, people=everybody))
    return lambda url: pages.get(url.removeprefix(ISSUER)).content


def _tokens(folder: Path, everybody: People) -> dict[str, str]:
    key, now = SigningKey.of(folder), datetime.now(UTC)

    def token(subject: str, at: datetime) -> str:
        person = everybody.find(subject)
        assert person is not None
        asked = Authorization(CLIENT, "", "", state="", nonce="", scope="openid")
        issued = Tokens(ISSUER, key, everybody, FixedClock(at))
        return str(issued.signed_in(SignIn(subject, asked, at), person)["access_token"])

    good = {subject: token(subject, now) for subject in {*SPEAKERS.values()}}
    head, payload, signature = good["u-demo"].split(".")
    said = key.read(good["u-demo"])
    assert said is not None
    return {
        **good,
        "broken": f"{head}.{payload}.{signature[::-1]}",
        "expired": token("u-demo", now - timedelta(hours=2)),
        "audience": key.signed({**said, "aud": "payroll", "client_id": "payroll"}),
    }


def _let_in(world: World) -> None:
    """Let the neighbour in, next door."""
    anna = world.client("u-demo")
    invitation = {"who": NEXT_DOOR.email, "name": NEXT_DOOR.name, "roles": ["r-m-demo-user"]}
    invited = anna.post(f"{MANDATE}/members", json=invitation)
    assert invited.status_code == 201, invited.text
    entry = {"who": invited.json()["user"], "roles": ["r-i-demo-auto-automation-admin"]}
    let_in = anna.post(f"{NEIGHBOUR}/members", json=entry)
    assert let_in.status_code == 201, let_in.text
    assert world.client(NEXT_DOOR.subject).get("/api/v1/me").status_code == 200
