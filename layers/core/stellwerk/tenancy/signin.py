"""Signing in: from what a verified token claims to the scope in which its user acts."""

from __future__ import annotations

import re

from stellwerk.kernel.clock import Clock
from stellwerk.kernel.errors import Conflict, Forbidden, NotFound, Unauthenticated
from stellwerk.kernel.ids import InstanceId, MandateId
from stellwerk.tenancy.access import Place, Principal, Priority
from stellwerk.tenancy.auditing import Audit
from stellwerk.tenancy.claims import Claims
from stellwerk.tenancy.features import Features
from stellwerk.tenancy.me import Me, Overview
from stellwerk.tenancy.model import User
from stellwerk.tenancy.ports import Directory
from stellwerk.tenancy.principals import (
    Present,
    Principals,
    administrates,
    globally,
    instance_entered,
    is_member,
)
from stellwerk.tenancy.refusals import noted
from stellwerk.tenancy.scope import ADMINISTRATION, NO_INSTANCE, SYSTEM, Scope, of_principal

_ID = re.compile(r"[A-Za-z0-9-]{1,64}")
MANDATES = f"data.feature.{ADMINISTRATION}.mandates"


class SignIn:
    """Makes scopes of principals, and remembers nothing between two.

    3 requests each: user, standing, roles; one more for whoever holds global roles beside others,
    where each mandate's data is reached by a session of its own.
    So a role that was taken, a membership that ended, a client that was revoked count at once.
    """

    def __init__(
        self, directory: Directory, features: Features, *, audit: Audit, clock: Clock
    ) -> None:
        self._members = directory.members
        self._principals = Principals(directory)
        self._overview = Overview(directory, features)
        self._audit = audit
        self._clock = clock

    def user(self, claims: Claims) -> User:
        """Return the user of a token; an invited person is linked by verified address.

        Raises Unauthenticated for one who is unknown, not active, or whose time is over.
        """
        known = self._members.by_subject(claims.issuer, claims.subject)
        user = known or self._linked(claims)
        if user is None or user.kind != claims.kind:
            raise Unauthenticated(
                "nobody here is known by this token",
                remedy="Ask an administrator for an invitation to your verified mail address.",
            )
        if not user.active or (user.expires and user.expires <= self._clock.now()):
            raise Unauthenticated(
                f"'{user.id}' was revoked or has expired", remedy="Ask an administrator."
            )
        return user

    def scope(
        self,
        claims: Claims,
        mandate: MandateId,
        instance: InstanceId | None = None,
        *,
        request: str = "",
    ) -> Scope:
        """Return the scope of a token's user at a place.

        Raises NotFound for a place that does not exist, is not active, or is not the user's. The
        audit of a mandate that exists has who was not let in.
        """
        user = self.user(claims)
        place = Place(mandate, instance or NO_INSTANCE)
        if not all(_ID.fullmatch(part) for part in (mandate, instance) if part is not None):
            raise _no(place)
        present = self._principals.at(user, place)
        nobody = of_principal(Principal(user.id), mandate, place.instance, request=request)
        with noted(self._audit, nobody, "place.enter"):
            feature = _enter(present, place)
        return of_principal(
            present.principal, mandate, place.instance, feature=feature, request=request
        )

    def platform(self, claims: Claims, *, request: str = "") -> Scope:
        """Return the user's scope outside of all mandates, where only global roles count."""
        user = self.user(claims)
        principal = self._principals.principal(user.id, globally(user))
        return of_principal(principal, SYSTEM, feature=ADMINISTRATION, request=request)

    def me(self, claims: Claims) -> Me:
        """Return the user of a token, and what it sees where."""
        return self._overview.of(self.user(claims))

    def _linked(self, claims: Claims) -> User | None:
        """Return the invited person whom the issuer vouches for, from now on with this token."""
        if claims.kind != "person" or not claims.email or not claims.email_verified:
            return None
        invited = self._members.by_email(claims.email)
        if invited is None or invited.subject or invited.kind != "person":
            return None
        token = {"issuer": claims.issuer, "subject": claims.subject}
        scope = of_principal(Principal(invited.id), SYSTEM, feature=ADMINISTRATION)
        try:
            with self._audit.act(scope, "user.link", f"user:{invited.id}") as act:
                act.before(invited)
                linked = self._members.write_user(invited.model_copy(update=token), invited)
                act.after(linked)
        except Conflict:  # another request of the same person was first
            return self._members.by_subject(claims.issuer, claims.subject)
        return linked


def _enter(present: Present, place: Place) -> str:
    """Return the code of the feature of the place, for one who may come in."""
    if place.instance:
        return _enter_instance(present, place)
    _enter_mandate(present, place)
    return ADMINISTRATION


def _enter_mandate(present: Present, place: Place) -> None:
    """Refuse who is neither an active member of an active mandate nor administrates all."""
    if is_member(present.standing):
        return
    if present.standing.mandate is None or not administrates(
        present.principal, MANDATES, place, Priority.GLOBAL
    ):
        raise _no(place) from _refusal(present)


def _enter_instance(present: Present, place: Place) -> str:
    """Return the code of the instance's feature."""
    instance = instance_entered(present, place)
    if instance is None:
        raise _no(place) from _refusal(present)
    return instance.feature


def _refusal(present: Present) -> Forbidden | None:
    """Return what the caller does not learn; there is nothing to refuse where nothing exists."""
    if present.standing.mandate is None:
        return None
    return Forbidden(f"'{present.principal.user}' may not come in here.")


def _no(place: Place) -> NotFound:
    what = f"instance {place.instance} in mandate" if place.instance else "mandate"
    return NotFound(
        f"there is no {what} {place.mandate}, or not for you",
        remedy="Correct the ids; /api/v1/me names the places that are yours.",
    )
