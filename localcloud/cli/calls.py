"""The runs that a run has called as sub-workflows, and those that these have called."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from localcloud.cli.desk import Desk
from localcloud.cli.views import RunView, run_view
from stellwerk.kernel.ids import RunId
from stellwerk.kernel.json import JsonObject, JsonValue
from stellwerk.tenancy.scope import Scope

DEPTH = 3
"""How deep calls are followed unless someone asks for more."""
DEEPEST = 10
MOST = 20
"""Called runs that are told in full: a loop may call a thousand."""


@dataclass(frozen=True)
class Call:
    """A run called by a step of another. `view` None: it is not followed, only named."""

    step: str
    run: RunId
    view: RunView | None
    calls: tuple[Call, ...] = ()

    def as_json(self) -> JsonObject:
        """Return it for machines; a run that is not followed has an id and no steps."""
        named: JsonObject = {"step": self.step, "id": self.run}
        if self.view is None:
            return named
        return {**named, **self.view.as_json(), "calls": calls_json(self.calls)}


def calls_json(calls: tuple[Call, ...]) -> JsonValue:
    """Return calls for machines."""
    return [call.as_json() for call in calls]


def calls_of(
    services: Desk, scope: Scope, view: RunView, *, depth: int = DEPTH
) -> tuple[Call, ...]:
    """Return the runs that a run has called, in the order of its steps, `depth` levels deep."""
    return tuple(_Following(services, scope).calls(view, depth))


class _Following:
    """Follows calls until enough runs are told."""

    def __init__(self, services: Desk, scope: Scope) -> None:
        self._services = services
        self._scope = scope
        self._left = MOST

    def calls(self, view: RunView, depth: int) -> Iterator[Call]:
        for each in view.nodes:
            if each.called is None:
                continue
            if depth < 1 or self._left < 1:
                yield Call(each.step.key.text, each.called, None)
                continue
            self._left -= 1
            below = run_view(self._services, self._scope, each.called)
            calls = tuple(self.calls(below, depth - 1))
            yield Call(each.step.key.text, each.called, below, calls)
