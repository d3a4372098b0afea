"""A connection to the API of a deployment, for whoever is signed in there."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from localcloud.cli.connection import Connection, Target
from localcloud.cli.remote import Api, normal
from localcloud.cli.remote_desk import RemoteAudit, RemoteDesk
from localcloud.cli.remote_places import instance_of
from localcloud.cli.remote_sessions import Sessions
from localcloud.cli.remote_signin import KeptPass
from stellwerk.kernel.ids import InstanceId, MandateId, UserId
from stellwerk.tenancy.access import Principal
from stellwerk.tenancy.scope import of_principal

PAUSE = 1.0
"""Seconds between two looks at a run: an API counts requests."""
_WHOEVER = Principal(UserId("signed-in"))
"""Stands for whoever the token names: rights are decided at the API."""


@contextmanager
def connected(target: Target) -> Iterator[Connection]:
    """Use the target's API for the block; raises Unauthenticated where nobody is signed in."""
    address = normal(target.api or "")
    with Api(address, KeptPass(Sessions(), address)) as api:
        mandate, instance = instance_of(api, target.mandate, target.instance)
        yield Connection(
            RemoteDesk(api, mandate, instance),
            of_principal(_WHOEVER, MandateId(mandate), InstanceId(instance)),
            RemoteAudit(api, mandate),
            api=address,
            pause=PAUSE,
        )
