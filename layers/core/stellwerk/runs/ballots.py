"""Votes on a human task: who has cast which, and what they come to.

A task without a quorum ends with its first vote. With one, `needed` equal votes end it; under
`rejection` a single vote for `rejected` does too; under `majority` it takes more than half of `of`.
When all `of` have voted and nothing has won, or nothing can win any more, the vote is lost: the
outcome is `rejected` where there is one, else the first port among those with the most votes.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from datetime import datetime
from typing import Literal

from pydantic import BaseModel, ConfigDict, Field, model_validator

from stellwerk.kernel.ids import UserId
from stellwerk.kernel.json import JsonValue

REJECTED = "rejected"
MOST = 50
"""Votes that a task may need."""


class Quorum(BaseModel):
    """How many votes decide."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    needed: int = Field(ge=1, le=MOST)
    """Equal votes that decide; for `majority` at least that many."""
    of: int | None = Field(default=None, ge=1, le=MOST)
    """How many people vote at most; None: as many as it takes."""
    rule: Literal["rejection", "majority"] = "rejection"

    @model_validator(mode="after")
    def _possible(self) -> Quorum:
        if self.rule == "majority" and self.of is None:
            raise ValueError("a majority needs `of`: how many people vote")
        if self.of is not None and self.needed > self.of:
            raise ValueError(f"{self.needed} of {self.of} votes cannot be reached")
        return self

    @property
    def enough(self) -> int:
        """Equal votes that decide, the rule considered."""
        half = (self.of or 0) // 2 + 1
        return max(self.needed, half) if self.rule == "majority" else self.needed


class Vote(BaseModel):
    """What one person has said."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    port: str
    data: JsonValue = None
    comment: str = ""
    by: UserId
    """A user's id, or `mail:ADDRESS` of a guest."""
    on_behalf_of: UserId | None = None
    """Whom `by` stands in for as a deputy."""
    at: datetime

    @property
    def people(self) -> frozenset[UserId]:
        """Whose vote it is: who cast it, and for whom."""
        return frozenset({self.by} | ({self.on_behalf_of} if self.on_behalf_of else set()))


def voted(votes: Sequence[Vote], people: frozenset[UserId]) -> Vote | None:
    """Return the vote of one of these people, or for one, if there is any."""
    return next((vote for vote in votes if vote.people & people), None)


def outcome(quorum: Quorum | None, ports: Sequence[str], votes: Sequence[Vote]) -> str | None:
    """Return the port at which the votes end a task with these ports; None: it goes on."""
    if not votes:
        return None
    if quorum is None:
        return votes[-1].port
    counts = Counter(vote.port for vote in votes)
    won = next((port for port in ports if counts[port] >= quorum.enough), None)
    if quorum.rule == "rejection" and counts[REJECTED]:
        return REJECTED
    if won is not None or quorum.of is None:
        return won
    left = quorum.of - len(votes)
    if left > 0 and any(counts[port] + left >= quorum.enough for port in ports):
        return None
    return _lost(ports, counts)


def progress(quorum: Quorum | None, votes: Sequence[Vote]) -> str:
    """Return how far the answer is that most have given, as `2 of 3`; "" where one decides."""
    if quorum is None:
        return ""
    most = max(Counter(vote.port for vote in votes).values(), default=0)
    return f"{most} of {quorum.enough}"


def _lost(ports: Sequence[str], counts: Counter[str]) -> str:
    if REJECTED in ports:
        return REJECTED
    return max(ports, key=lambda port: counts[port])
