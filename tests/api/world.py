"""A seeded local cloud with the application over it, and people who talk to it."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta

from fastapi import FastAPI
from fastapi.testclient import TestClient

from api.app import create_app
from api.backend import Backend
from localcloud.cloud import LocalCloud
from localcloud.seeding.seeds import Seeds
from stellwerk import bootstrap
from stellwerk.bootstrap.serving import ApiServices, serve
from stellwerk.config import Settings
from stellwerk.kernel.clock import SystemClock
from stellwerk.kernel.errors import Unauthenticated
from stellwerk.kernel.json import JsonObject
from stellwerk.tenancy.claims import Claims
from tests.fakes.graph import microsoft

ISSUER = "https://issuer.example"
DEMO = "/api/v1/mandates/m-demo/instances/i-demo"
NORD = "/api/v1/mandates/m-nord/instances/i-nord"
GRAPH: JsonObject = {
    "schema": "stellwerk/graph@1",
    "title": "Payment",
    "nodes": [
        {"key": "start", "type": "trigger.manual"},
        {
            "key": "ask",
            "type": "input.approval",
            "parameters": {"title": "Pay {{ $trigger.amount }}?", "assignees": ["u-demo-user"]},
        },
        {
            "key": "pay",
            "type": "data.set",
            "parameters": {"fields": {"paid": "{{ $trigger.amount }}"}},
        },
    ],
    "edges": [
        {"from": "start", "to": "ask"},
        {"from": "ask", "port": "approved", "to": "pay"},
    ],
}
"""Asks a person, then goes on."""
STRAIGHT: JsonObject = {
    "title": "Straight",
    "nodes": [
        {"key": "start", "type": "trigger.manual"},
        {"key": "note", "type": "data.set", "parameters": {"fields": {"text": "{{ $trigger }}"}}},
    ],
    "edges": [{"from": "start", "to": "note"}],
}


BROKEN: JsonObject = {
    "title": "Broken",
    "nodes": [
        {"key": "start", "type": "trigger.manual"},
        {
            "key": "note",
            "type": "data.set",
            "parameters": {"fields": {"text": "{{ $error('no such account') }}"}},
        },
    ],
    "edges": [{"from": "start", "to": "note"}],
}
"""Fails, always."""


class SpokenTokens:
    """Takes a token for the id of the user who speaks; `expired` and `forged` do not hold."""

    def verify(self, token: str) -> Claims:
        if not token.startswith("u-") and not token.startswith("c-"):
            raise Unauthenticated("The token does not hold.", remedy="Sign in again.")
        return Claims(
            issuer=ISSUER,
            subject=token,
            client_id="web",
            expires=datetime.now(UTC) + timedelta(hours=1),
        )


@dataclass(frozen=True)
class World:
    """The application over a seeded cloud."""

    services: ApiServices
    app: FastAPI = field(repr=False)

    def someone(self, user: str = "", **headers: str) -> TestClient:
        """Return a client that speaks for a user, or for nobody."""
        named = {"Authorization": f"Bearer {user}"} if user else {}
        return TestClient(self.app, headers={**named, **headers}, raise_server_exceptions=False)


@contextmanager
def world(settings: Settings | None = None) -> Iterator[World]:
    """Run a seeded cloud for the block."""
    with microsoft() as server:
        environment = {"STELLWERK_ISSUER": ISSUER, **server.environment}
        yield from _world(settings or replace(Settings.of(environment), rate_limit=0))


def _world(given: Settings) -> Iterator[World]:
    with LocalCloud(settings=given) as cloud:
        running = bootstrap.build(given, cloud.clients)
        bootstrap.services.provide(lambda: running)
        services = serve(given, cloud.clients)
        Seeds(services.directory, services.features.all(), issuer=ISSUER, clock=SystemClock()).sow()
        yield World(services, create_app(Backend(services, SpokenTokens())))
