"""The journal in memory."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from stellwerk.kernel.errors import BadInput
from stellwerk.kernel.ids import RunId
from stellwerk.kernel.pages import Page
from stellwerk.runs.model import Step, StepKey
from stellwerk.tenancy.scope import Scope
from tests.fakes.memory import Memory, replaced


class FakeJournal:
    """Keeps steps in a dict."""

    def __init__(self, memory: Memory) -> None:
        self._memory = memory

    def read(self, scope: Scope, run: RunId, keys: Sequence[StepKey]) -> dict[StepKey, Step]:
        with self._memory.lock:
            steps = self._memory.of(scope).steps
            return {key: steps[run, key] for key in keys if (run, key) in steps}

    def write(self, scope: Scope, step: Step) -> Step:
        with self._memory.lock:
            steps = self._memory.of(scope).steps
            steps[step.run, step.key] = replaced(steps.get((step.run, step.key)), step)
            return steps[step.run, step.key]

    def fill(self, scope: Scope, run: RunId, steps: Sequence[Step]) -> None:
        with self._memory.lock:
            for step in steps:
                written = step.model_copy(update={"revision": step.revision + 1})
                self._memory.of(scope).steps[run, step.key] = written

    def page(
        self, scope: Scope, run: RunId, *, cursor: str | None = None, limit: int = 1000
    ) -> Page[Step]:
        found = [*self.steps(scope, run)]
        begin = 0
        if cursor is not None:
            if not cursor.isdecimal():
                raise BadInput(f"'{cursor}' is not a cursor")
            begin = int(cursor)
        end = begin + limit
        return Page(found[begin:end], str(end) if len(found) > end else None)

    def steps(self, scope: Scope, run: RunId) -> Iterator[Step]:
        with self._memory.lock:
            steps = self._memory.of(scope).steps
            found = [step for (owner, _), step in steps.items() if owner == run]
        yield from sorted(found, key=lambda step: step.path)
