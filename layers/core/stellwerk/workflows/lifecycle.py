"""The life of a version: one table of what may happen to it in which state; the rest is refused.

`docs/states.md` is generated from the table.
"""

from __future__ import annotations

from enum import StrEnum

from stellwerk.kernel.errors import Conflict
from stellwerk.kernel.transitions import Transition, target
from stellwerk.workflows.model import Version, VersionStatus

_DRAFT, _PUBLISHED, _ARCHIVED = VersionStatus


class VersionEvent(StrEnum):
    """What can happen to a version."""

    CREATE = "create"
    EDIT = "edit"
    DERIVE = "derive"
    PUBLISH = "publish"
    UNPUBLISH = "unpublish"
    ARCHIVE = "archive"
    REPUBLISH = "republish"


VERSION_TRANSITIONS: tuple[Transition[VersionStatus], ...] = (
    Transition(None, VersionEvent.CREATE, _DRAFT, "someone begins a workflow, or derives a draft"),
    Transition(
        _DRAFT,
        VersionEvent.EDIT,
        _DRAFT,
        "never published: its graph is saved in place, under the revision that was seen",
    ),
    Transition(_DRAFT, VersionEvent.DERIVE, _DRAFT, "a new draft is made from it"),
    Transition(_PUBLISHED, VersionEvent.DERIVE, _PUBLISHED, "editing it makes a new draft from it"),
    Transition(_ARCHIVED, VersionEvent.DERIVE, _ARCHIVED, "editing it makes a new draft from it"),
    Transition(
        _DRAFT,
        VersionEvent.PUBLISH,
        _PUBLISHED,
        "its graph has no fault; the version that was published is archived in the same write",
    ),
    Transition(
        _PUBLISHED,
        VersionEvent.UNPUBLISH,
        _DRAFT,
        "nothing new starts; its runs go on; its graph stays as it is",
    ),
    Transition(
        _PUBLISHED,
        VersionEvent.ARCHIVE,
        _ARCHIVED,
        "a person archives it, or another version is published; its runs go on",
    ),
    Transition(
        _ARCHIVED,
        VersionEvent.REPUBLISH,
        _PUBLISHED,
        "its machines are made anew where they are gone; the published version is archived",
    ),
)

_REMEDIES: dict[VersionStatus, str] = {
    _DRAFT: "A draft can be edited or published.",
    _PUBLISHED: "A published version can be unpublished or archived; to change it, edit it: "
    "that makes a new draft.",
    _ARCHIVED: "An archived version can be published again; to change it, edit it: that makes a "
    "new draft.",
}


def version_after(version: Version, event: VersionEvent) -> VersionStatus:
    """Return the status of `version` after `event`; raise Conflict naming its state if refused."""
    after = target(VERSION_TRANSITIONS, version.status, event)
    if after is None:
        raise Conflict(
            f"Version {version.number} is {version.status}: it does not allow '{event}'.",
            remedy=_REMEDIES[version.status],
        )
    if event is VersionEvent.EDIT and not version.fresh:
        raise Conflict(
            f"Version {version.number} was published once: its graph stays as it is.",
            remedy="Make a new draft from it.",
        )
    return after


def return_event(version: Version) -> VersionEvent:
    """Return how a version that was published before becomes the published one again.

    Raises Conflict for one that never was, or that is the published one: there is no way back.
    """
    if version.status is VersionStatus.PUBLISHED:
        raise Conflict(
            f"Version {version.number} is the published one already.",
            remedy="Name another one to go back to.",
        )
    if version.fresh:
        raise Conflict(
            f"Version {version.number} was never published: there is no going back to it.",
            remedy="Publish it.",
        )
    archived = version.status is VersionStatus.ARCHIVED
    return VersionEvent.REPUBLISH if archived else VersionEvent.PUBLISH
