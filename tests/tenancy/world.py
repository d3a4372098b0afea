"""A directory in memory with the seeded companies, and who acts in it."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import timedelta

from localcloud.seeding.seeds import Seeds
from stellwerk.features.found import FoundFeatures
from stellwerk.kernel.ids import InstanceId, MandateId, UserId
from stellwerk.tenancy.chain import ChainedAudit
from stellwerk.tenancy.claims import Claims
from stellwerk.tenancy.evidence import AuditRecord
from stellwerk.tenancy.ports import Directory
from stellwerk.tenancy.scope import Scope
from stellwerk.tenancy.signin import SignIn
from tests.fakes.audit import FakeAuditLog
from tests.fakes.clock import FixedClock
from tests.fakes.directory import directory

ISSUER = "https://issuer.example"
DEMO, NORD = MandateId("m-demo"), MandateId("m-nord")
EDITOR, AUTO, NORD_EDITOR = InstanceId("i-demo"), InstanceId("i-demo-auto"), InstanceId("i-nord")
ANNA, BEN, CLARA = UserId("u-demo"), UserId("u-demo-user"), UserId("u-demo-viewer")
DAVID, ROOT, NORA = UserId("u-demo-outsider"), UserId("u-root"), UserId("u-nord-admin")
FEATURES = FoundFeatures()


@dataclass(frozen=True)
class World:
    """The stores of a test, and signing in to them."""

    directory: Directory
    log: FakeAuditLog
    audit: ChainedAudit
    clock: FixedClock
    signing: SignIn

    def scope(
        self, user: UserId, mandate: MandateId = DEMO, instance: InstanceId | None = None
    ) -> Scope:
        """Return the scope of someone who has signed in."""
        return self.signing.scope(self.claims(user), mandate, instance, request="q-1")

    def platform(self, user: UserId = ROOT) -> Scope:
        """Return someone's scope outside of all mandates."""
        return self.signing.platform(self.claims(user), request="q-1")

    def claims(self, user: str, **others: object) -> Claims:
        """Return the claims of a token with this subject."""
        expires = self.clock.now() + timedelta(hours=1)
        claims = Claims(issuer=ISSUER, subject=user, client_id="editor", expires=expires)
        return claims.model_copy(update=others)

    def records(self, mandate: MandateId = DEMO) -> list[AuditRecord]:
        """Return what was audited in a mandate."""
        return self.log.all(mandate)

    def acts(self, mandate: MandateId = DEMO) -> list[str]:
        """Return what was audited in a mandate, in short: `role.update done`."""
        return [f"{record.action} {record.outcome}" for record in self.records(mandate)]


def world(stores: Directory | None = None) -> World:
    """Return a seeded world."""
    stores, clock, log = stores or directory(), FixedClock(), FakeAuditLog()
    Seeds(stores, FEATURES.all(), issuer=ISSUER, clock=clock).sow()
    audit = ChainedAudit(log, clock)
    signing = SignIn(stores, FEATURES, audit=audit, clock=clock)
    return World(stores, log, audit, clock, signing)
