"""Scopes of people with and without the right to read the audit."""

from __future__ import annotations

from stellwerk.kernel.ids import MandateId, RoleId, UserId
from stellwerk.tenancy.access import AccessRule, Context, Grant, Level, Principal, Priority
from stellwerk.tenancy.scope import Scope, of_principal

MANDATE = MandateId("m-one")
DAY = "2026-11-02"
NEXT_DAY = "2026-11-03"


def person(level: Level, user: str = "u-anna") -> Scope:
    """Return the scope of someone who may read the audit as far as `level`."""
    rule = AccessRule(
        context=Context.DATA, item="data.feature.administration.*", view=True, read=level
    )
    grant = Grant(Priority.MANDATE, RoleId("r-1"), "some role", (rule,))
    principal = Principal(UserId(user), (grant,))
    return of_principal(principal, MANDATE, feature="administration", request="req-1")


ANNA = person(Level.ALL)
BERT = person(Level.MY, "u-bert")
NOBODY = person(Level.NONE, "u-carl")
