"""The scope of a call: who acts, for which mandate and instance.

Every service and store method takes one.
"""

from __future__ import annotations

from dataclasses import dataclass

from stellwerk.kernel.ids import InstanceId, MandateId, UserId

SEEDED_MANDATE = MandateId("m-demo")
SEEDED_INSTANCE = InstanceId("i-demo")
SEEDED_USER = UserId("u-demo")


@dataclass(frozen=True)
class Scope:
    """Who acts, where. Made only by the functions of this module."""

    mandate: MandateId
    instance: InstanceId
    user: UserId
    request: str = ""


def seeded(*, request: str = "") -> Scope:
    """Return the scope of the one user of a fresh local cloud."""
    return Scope(SEEDED_MANDATE, SEEDED_INSTANCE, SEEDED_USER, request)


def of_run(mandate: str, instance: str, user: str, *, request: str = "") -> Scope:
    """Return the scope in which a run's steps act: from its record, never from a payload."""
    return Scope(MandateId(mandate), InstanceId(instance), UserId(user), request)
