"""What others do when a run ends, and what they do from time to time: runs know no more of them."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Protocol

from stellwerk.runs.model import Run, Step
from stellwerk.tenancy.scope import Scope


class Follower(Protocol):
    """Takes in how runs end."""

    def ending(self, scope: Scope, run: Run, steps: Iterable[Step]) -> None:
        """Take in a run that is about to end as it records, with its steps.

        It comes before the end is written, and again if a crash has kept that from being written.
        """


class Chore(Protocol):
    """Work of the platform at a place, for the sweeper."""

    def due(self, scope: Scope) -> Iterable[Callable[[], object]]:
        """Yield what is to be done there now, each to be tried again next time if it fails."""
