"""What the platform needs to act by itself: where it may, for whom, and how far it has come."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import Protocol

from pydantic import BaseModel, ConfigDict

from stellwerk.kernel.ids import InstanceId, MandateId, UserId
from stellwerk.kernel.json import JsonObject
from stellwerk.tenancy.scope import Scope


class Actors(Protocol):
    """Knows what users may do at this moment, without a token of theirs."""

    def acting(self, scope: Scope, user: UserId) -> Scope:
        """Return the scope of `user` at the scope's place, with the roles that it holds there now.

        Raises Forbidden, with the reason, for one who may not come in there, or no longer.
        """


class Shares(Protocol):
    """Knows how much of the installation is whose."""

    def share(self, scope: Scope) -> int:
        """Return how many runs of the scope's mandate may be open at once."""


class Guests(Protocol):
    """Knows where people without an account may decide."""

    def allowed(self, scope: Scope) -> bool:
        """Say whether the scope's mandate lets guests decide."""


class Uploads(Protocol):
    """Knows the files of instances."""

    def found(self, scope: Scope, file: str) -> JsonObject | None:
        """Return `name`, `type` and `size` of a file that the scope may read; None: no such."""


class Mark(BaseModel):
    """Where a round has stopped: what was not looked at begins there."""

    model_config = ConfigDict(frozen=True, extra="ignore")

    mandate: MandateId
    instance: InstanceId
    since: datetime | None = None
    """The start of the first run of the instance that was not looked at; None: none was."""


class Marks(Protocol):
    """Keeps where the last round has stopped; only for the platform's scope."""

    def read(self, scope: Scope) -> Mark | None:
        """Return where it has stopped; None: it went all the way round."""

    def write(self, scope: Scope, mark: Mark | None) -> None:
        """Note where it stops."""


class Places(Protocol):
    """Knows which mandates there are, and which instances of them."""

    def mandates(self, scope: Scope, *, after: MandateId | None, limit: int) -> Sequence[MandateId]:
        """Return ids of mandates in their order; only for the platform's scope, else none."""

    def instances(self, scope: Scope) -> Sequence[InstanceId]:
        """Return the instances of the scope's mandate by id; none where it is not active."""
