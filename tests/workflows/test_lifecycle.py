"""The table of a version's states, row by row."""

from __future__ import annotations

from itertools import product

import pytest

from scripts import states_page
from stellwerk.kernel.errors import Conflict
from stellwerk.workflows.lifecycle import (
    VERSION_TRANSITIONS,
    VersionEvent,
    return_event,
    version_after,
)
from stellwerk.workflows.model import Version, VersionStatus
from tests.contracts.records import START, version

ROWS = {(row.source, row.event): row.target for row in VERSION_TRANSITIONS}


def standing(status: VersionStatus, *, published_before: bool = False) -> Version:
    first = START if published_before or status is not VersionStatus.DRAFT else None
    return version(3).model_copy(update={"status": status, "first_published": first})


def test_no_pair_of_state_and_event_has_two_rows() -> None:
    assert len(ROWS) == len(VERSION_TRANSITIONS)
    assert {event for _, event in ROWS} == set(VersionEvent)


@pytest.mark.parametrize(("status", "event"), [*product(VersionStatus, VersionEvent)])
def test_every_pair_is_allowed_by_its_row_or_refused_with_a_remedy(
    status: VersionStatus, event: VersionEvent
) -> None:
    found = standing(status)
    if (status, event) in ROWS:
        assert version_after(found, event) is ROWS[status, event]
        return
    with pytest.raises(Conflict, match=f"Version 3 is {status}: it does not allow '{event}'") as no:
        version_after(found, event)
    assert str(status) in no.value.remedy.lower()


def test_a_draft_that_was_published_once_is_not_edited_in_place() -> None:
    with pytest.raises(Conflict, match="was published once") as no:
        version_after(standing(VersionStatus.DRAFT, published_before=True), VersionEvent.EDIT)
    assert "new draft" in no.value.remedy


def test_going_back_publishes_what_was_published_before() -> None:
    archived, unpublished = VersionStatus.ARCHIVED, VersionStatus.DRAFT
    assert return_event(standing(archived)) is VersionEvent.REPUBLISH
    assert return_event(standing(unpublished, published_before=True)) is VersionEvent.PUBLISH
    with pytest.raises(Conflict, match="never published"):
        return_event(standing(unpublished))
    with pytest.raises(Conflict, match="is the published one already"):
        return_event(standing(VersionStatus.PUBLISHED))


def test_the_page_of_states_is_up_to_date() -> None:
    assert states_page.main(["--check"]) == 0
