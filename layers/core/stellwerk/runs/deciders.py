"""Who may decide a task, in whose name: assignees, those who stand in for them, who may do all.

Four eyes: neither who decides nor for whom may be one of those whom the task excludes.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from stellwerk.kernel.errors import Forbidden, NotFound
from stellwerk.kernel.ids import UserId
from stellwerk.runs.ballots import voted
from stellwerk.runs.model import HumanTask
from stellwerk.runs.rights import (
    DECIDE,
    EVERYONE,
    check_task,
    inbox_names,
    is_assignee,
    reads_all_tasks,
    require_all_tasks,
)
from stellwerk.runs.world import World
from stellwerk.tenancy.scope import Scope, require_operation


class FourEyes(Forbidden):
    """Someone else must decide than who has started the run."""


@dataclass(frozen=True)
class Capacity:
    """Who decides, and for whom if it is for another."""

    by: UserId
    on_behalf_of: UserId | None = None

    @property
    def people(self) -> frozenset[UserId]:
        """Both of them."""
        return frozenset({self.by} | ({self.on_behalf_of} if self.on_behalf_of else set()))


class Deciders:
    """Finds in which capacity someone decides. Requests: none for an assignee; else 1, 2 each."""

    def __init__(self, world: World) -> None:
        self._world = world

    def capacity(self, scope: Scope, task: HumanTask) -> Capacity:
        """Return in which capacity the scope's user decides the task, or hands it on.

        Raises FourEyes for who has started the run, and for who stands in for that one; Forbidden
        for one for whom it does not wait and who may not decide for others.
        """
        require_operation(scope, DECIDE)
        found = list(self._capacities(scope, task))
        fit = next((one for one in found if not one.people & set(task.not_by)), None)
        if fit is not None:
            return fit
        if not found:
            require_all_tasks(scope)
            found = [Capacity(scope.user)]
        if found[0].people & set(task.not_by):
            raise _four_eyes(task)
        return found[0]

    def check(self, scope: Scope, task: HumanTask) -> None:
        """Raise NotFound for a task that the scope may not see."""
        if is_assignee(scope, task) or reads_all_tasks(scope):
            return
        if not any(self._for_others(scope, task)):
            check_task(scope, task)

    def people(self, scope: Scope) -> tuple[Scope, ...]:
        """Return the scope, and those of the people for whom its user stands in now."""
        return (scope, *self._represented(scope))

    def _capacities(self, scope: Scope, task: HumanTask) -> Iterator[Capacity]:
        if is_assignee(scope, task):
            yield Capacity(scope.user)
            if scope.user not in task.not_by:
                return
        yield from self._for_others(scope, task)

    def _for_others(self, scope: Scope, task: HumanTask) -> Iterator[Capacity]:
        for other in self._represented(scope):
            if is_assignee(other, task):
                yield Capacity(scope.user, other.user)

    def _represented(self, scope: Scope) -> Iterator[Scope]:
        """Yield the scopes of those for whom the user stands in now, as far as they may come in."""
        if self._world.deputies is None:
            return
        now = self._world.clock.now()
        for named in self._world.deputies.by(scope, scope.user):
            if named.counts(now):
                try:
                    yield self._world.actors.acting(scope, named.user)
                except (Forbidden, NotFound):
                    continue


def names(people: Sequence[Scope]) -> tuple[str, ...]:
    """Return the assignees that stand for someone, who is first, and those he stands in for."""
    own, *others = (inbox_names(scope) for scope in people)
    personal = (name for found in others for name in found if name != EVERYONE)
    return tuple(dict.fromkeys([*own, *personal]))


def waits_for(people: Sequence[Scope], task: HumanTask) -> bool:
    """Say whether someone, who is first, can still decide the task, or for those others."""
    user = people[0].user
    for scope in people:
        both = Capacity(user, None if scope.user == user else scope.user).people
        excluded = both & set(task.not_by) or voted(task.votes, both) is not None
        if is_assignee(scope, task) and not excluded:
            return True
    return False


def _four_eyes(task: HumanTask) -> FourEyes:
    return FourEyes(
        f"Task {task.id} must not be decided by whoever has started its run, nor on their behalf.",
        remedy="Let somebody else decide: that is what the second pair of eyes is for.",
    )
