"""All entries of a run, to be gone through more than once: few are kept, many are read anew."""

from __future__ import annotations

from collections.abc import Iterator

from stellwerk.kernel.ids import RunId
from stellwerk.runs.model import Step
from stellwerk.runs.ports import Journal
from stellwerk.tenancy.scope import Scope

FEW = 1000
"""Entries that are kept in memory: some megabytes."""


class Entries:
    """The entries of a run, those of one place together."""

    def __init__(self, journal: Journal, scope: Scope, run: RunId) -> None:
        self._journal = journal
        self._scope = scope
        self._run = run
        self._kept: list[Step] | None = None

    def __iter__(self) -> Iterator[Step]:
        """Yield them: from the journal, or, where they are few, as they were the first time."""
        if self._kept is not None:
            yield from self._kept
            return
        kept: list[Step] = []
        for step in self._journal.steps(self._scope, self._run):
            if len(kept) <= FEW:
                kept.append(step)
            yield step
        if len(kept) <= FEW:
            self._kept = kept
