"""moto's Scheduler, refusing what AWS refuses.

| moto | AWS |
|---|---|
| fails on a schedule in a group that is not there | answers ResourceNotFoundException |
| replaces a group that is there, and forgets its schedules | answers ConflictException |
"""

from __future__ import annotations

from moto.core.exceptions import JsonRESTError
from moto.scheduler.exceptions import ScheduleGroupNotFound
from moto.scheduler.models import EventBridgeSchedulerBackend, ScheduleGroup, scheduler_backends


class GroupThere(JsonRESTError):
    """The group exists."""

    def __init__(self, name: str) -> None:
        super().__init__("ConflictException", f"Schedule group {name} already exists.")
        self.code = 409


class Groups(dict[str, ScheduleGroup]):
    """Groups by name, which are neither missed nor replaced."""

    def __missing__(self, name: str) -> ScheduleGroup:
        """Refuse a group that is not there."""
        raise ScheduleGroupNotFound(name)

    def __setitem__(self, name: str, group: ScheduleGroup) -> None:
        """Take a new group."""
        if name in self:
            raise GroupThere(name)
        super().__setitem__(name, group)


def repaired(account: str, region: str) -> EventBridgeSchedulerBackend:
    """Return moto's backend for the account, which refuses what AWS refuses."""
    backend: EventBridgeSchedulerBackend = scheduler_backends[account][region]
    groups = Groups()
    for name, group in backend.schedule_groups.items():
        groups[name] = group
    backend.schedule_groups = groups
    return backend
