"""Connections in memory, over real servers and a Microsoft in small."""

from __future__ import annotations

from dataclasses import dataclass, field

from stellwerk.kernel.ids import InstanceId, MandateId, RoleId, UserId
from stellwerk.kernel.json import JsonObject, JsonValue
from stellwerk.tenancy.access import AccessRule, Context, Grant, Level, Principal, Priority
from stellwerk.tenancy.chain import ChainedAudit
from stellwerk.tenancy.scope import Scope, of_principal
from stellwerk.toolboxes.accounts import Accounts, Services
from stellwerk.toolboxes.authorising import Authorising
from stellwerk.toolboxes.connections import ConnectionService, New
from stellwerk.toolboxes.model import Connection, Kind
from stellwerk.toolboxes.oauth import Grants, Provider
from stellwerk.toolboxes.tokens import AccessTokens
from stellwerk.toolboxes.web import GuardedWeb
from tests.fakes.audit import FakeAuditLog
from tests.fakes.clock import FixedClock
from tests.fakes.connections import FakeConnections, FakeSecrets
from tests.fakes.consent import consented
from tests.fakes.graph import CLIENT, REDIRECT, Microsoft
from tests.secrets.vault import seeded

MANDATE, PLACE = MandateId("m-one"), InstanceId("i-one")
MAILBOX: JsonObject = {"user": "office", "imap_host": "imap.example.com"}
_ITEM = "graphicalEditor"


def scope(user: str, level: Level = Level.MY, *uses: str, place: InstanceId = PLACE) -> Scope:
    """Return the scope of someone who does that to connections, and uses `own`, `instance`."""
    data = AccessRule(
        context=Context.DATA,
        item=f"data.feature.{_ITEM}.connections",
        view=True,
        read=level,
        create=level,
        update=level,
        delete=level,
    )
    operations = (
        AccessRule(
            context=Context.RESOURCE, item=f"resource.feature.{_ITEM}.connections.{use}", view=True
        )
        for use in uses
    )
    grant = Grant(Priority.INSTANCE, RoleId("r"), "r", (data, *operations))
    principal = Principal(UserId(user), (grant,))
    return of_principal(principal, MANDATE, place, feature=_ITEM, request="q-1")


ANNA = scope("u-anna", Level.INSTANCE, "own", "instance")
"""Administrates the instance."""
BEN = scope("u-ben", Level.MY, "own", "instance")
CLARA = scope("u-clara", Level.NONE)


@dataclass
class Desk:
    """The services."""

    microsoft: Microsoft = field(default_factory=Microsoft)
    allowed: tuple[str, ...] = ()
    slack: str = "https://slack.com/api"
    clock: FixedClock = field(default_factory=FixedClock)

    def __post_init__(self) -> None:
        self.log = FakeAuditLog()
        self.audit = ChainedAudit(self.log, self.clock)
        self.store, self.kept = FakeConnections(), FakeSecrets()
        allowed = self.allowed_now = {*self.allowed, self.microsoft.place}
        web = GuardedWeb(allowed, seconds=5)
        grants = Grants(Provider(self.microsoft.url, CLIENT), web, self.clock)
        self.tokens = AccessTokens(self.store, self.kept, grants, self.clock, pause=lambda _: None)
        services = Services(f"{self.microsoft.url}/v1.0", self.slack, allowed)
        self.accounts = Accounts(self.store, self.kept, self.tokens, web, services)
        self.connections = ConnectionService(
            self.store, self.kept, self.audit, self.clock, self.accounts.tried
        )
        self.authorising = Authorising(
            self.store, self.kept, grants, self.audit, self.clock, redirects=(REDIRECT,)
        )

    def allow(self, place: str) -> None:
        """Let a private place be called from now on."""
        self.allowed_now.add(place)

    def mailbox(
        self, who: Scope = BEN, *, shared: bool = False, **settings: JsonValue
    ) -> Connection:
        """Make a connection to a mailbox."""
        given: JsonObject = {**MAILBOX, **settings}
        secret: JsonObject = {"password": seeded("mailbox")}
        new = New(Kind.SMTP_IMAP, "Office", given, secret, shared)
        return self.connections.create(who, new)

    def account(self, who: Scope = BEN, *, authorised: bool = True) -> Connection:
        """Make a connection to Microsoft, whose owner has consented."""
        made = self.connections.create(who, New(Kind.MICROSOFT, "Office 365", {}, {}))
        if not authorised:
            return made
        state, code = consented(self.authorising.begin(who, made.id, REDIRECT))
        return self.authorising.finish(who, state, code)

    def acts(self) -> list[str]:
        """Return what was audited, in short."""
        return [f"{one.action} {one.outcome}" for one in self.log.all(MANDATE)]
