"""Documents that carry workflows from one place to another."""

from __future__ import annotations

import json

import pytest
from pydantic import ValidationError

from stellwerk.kernel.errors import BadInput
from stellwerk.workflows.carrying import CarriedVersion, Document
from stellwerk.workflows.model import Concurrency, Overflow, VersionStatus
from stellwerk.workflows.settings import Changes
from tests.workflows.desk import ABROAD, ANNA, Desk, drawn


def exported(desk: Desk) -> Document:
    workflow, _ = desk.service.publish(ANNA, drawn("ü"), slug="invoices", title="Rechnungen")
    changes = Changes(
        tags=("finance",), vars={"a": [1]}, concurrency=Concurrency(policy=Overflow.QUEUE)
    )
    desk.service.update(ANNA, workflow.id, None, changes)
    desk.service.publish(ANNA, drawn(2, file="f-1"), slug="invoices")
    desk.service.new_draft(ANNA, workflow.id)
    return desk.service.export(ANNA, workflow.id)


def test_a_document_holds_settings_and_all_versions_and_no_person(desk: Desk) -> None:
    document = exported(desk)
    assert (document.title, document.slug) == ("Rechnungen", "invoices")
    assert (document.tags, document.vars) == (("finance",), {"a": [1]})
    assert [(each.number, str(each.status)) for each in document.versions] == [
        (1, "archived"),
        (2, "published"),
        (3, "draft"),
    ]
    assert document.versions[0].graph == drawn("ü")
    text = document.model_dump_json(by_alias=True)
    assert "u-anna" not in text
    assert "m-one" not in text
    assert json.loads(text)["schema"] == "stellwerk/workflow@1"
    assert desk.acts()[-1][0] == "workflow.export"


def test_a_document_becomes_drafts_elsewhere_with_their_faults(desk: Desk) -> None:
    document = Document.model_validate_json(exported(desk).model_dump_json(by_alias=True))
    imported = desk.service.import_(ABROAD, document)
    workflow = imported.workflow
    assert (workflow.slug, workflow.latest, workflow.published) == ("invoices", 3, None)
    assert (workflow.tags, workflow.created_by) == (("finance",), "u-anna")
    assert workflow.concurrency.policy is Overflow.QUEUE
    assert [version.status for version in imported.versions] == [VersionStatus.DRAFT] * 3
    assert desk.service.graph(ABROAD, imported.versions[0]) == drawn("ü")
    assert {number: len(faults) for number, faults in imported.faults.items()} == {2: 1, 3: 1}
    assert desk.service.get(ABROAD, workflow.id) == workflow
    again = desk.service.import_(ABROAD, document)
    assert again.workflow.slug == "invoices-2"


def test_versions_are_numbered_anew(desk: Desk) -> None:
    carried = tuple(CarriedVersion(number=number, graph=drawn(number)) for number in (4, 9))
    document = Document(title="Gaps", slug="gaps", versions=carried)
    imported = desk.service.import_(ANNA, document)
    assert [version.number for version in imported.versions] == [1, 2]


def test_more_versions_than_are_written_at_once_are_refused(desk: Desk) -> None:
    carried = tuple(CarriedVersion(number=number, graph=drawn()) for number in range(1, 42))
    document = Document(title="Many", slug="many", versions=carried)
    with pytest.raises(BadInput, match="has 41 versions; an import takes 40"):
        desk.service.import_(ANNA, document)


def test_a_workflow_of_many_versions_is_exported_whole(desk: Desk) -> None:
    workflow, _ = desk.service.create(ANNA, "Many")
    for _ in range(120):
        desk.service.new_draft(ANNA, workflow.id)
    document = desk.service.export(ANNA, workflow.id)
    assert [each.number for each in document.versions] == list(range(1, 122))


@pytest.mark.parametrize(
    "wrong",
    ['{"title": "A", "slug": "a", "versions": []}', '{"schema": "other/1"}', '{"owner": "u-1"}'],
)
def test_what_is_no_document_is_refused(wrong: str) -> None:
    with pytest.raises(ValidationError):
        Document.model_validate_json(wrong)
