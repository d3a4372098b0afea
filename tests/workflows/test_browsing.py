"""Finding and reading, checking and compiling without writing."""

from __future__ import annotations

import pytest

from stellwerk.kernel.errors import NotFound
from stellwerk.kernel.ids import WorkflowId
from stellwerk.workflows.faults import Code, Fault
from stellwerk.workflows.preview import Forecast
from stellwerk.workflows.settings import Changes
from tests.workflows.desk import ABROAD, ANNA, Desk, drawn


def test_workflows_are_found_by_words_tags_and_whose_they_are(desk: Desk) -> None:
    first, _ = desk.service.create(ANNA, "Überfällige Rechnungen")
    second, _ = desk.service.create(ANNA, "Rechnung prüfen")
    second = desk.service.update(ANNA, second.id, None, Changes(tags=("finance",)))
    assert desk.service.list(ANNA, query="RECHNUNG über").items == [first]
    assert desk.service.list(ANNA, tag="finance", mine=True).items == [second]
    page = desk.service.list(ANNA, limit=1)
    rest = desk.service.list(ANNA, limit=1, cursor=page.cursor)
    assert [*page.items, *rest.items] == [second, first]
    assert desk.service.list(ABROAD).items == []


def test_a_workflow_is_found_by_slug_and_by_id(desk: Desk) -> None:
    workflow, _ = desk.service.create(ANNA, "Invoices")
    assert desk.service.find(ANNA, "invoices") == desk.service.find(ANNA, workflow.id) == workflow
    with pytest.raises(NotFound, match="no workflow called 'orders'"):
        desk.service.find(ANNA, "orders")
    with pytest.raises(NotFound, match="no workflow called 'invoices'"):
        desk.service.find(ABROAD, "invoices")


def test_two_versions_are_compared(desk: Desk) -> None:
    workflow, _ = desk.service.publish(ANNA, drawn(1), slug="invoices")
    desk.service.publish(ANNA, drawn(2), slug="invoices")
    [change] = desk.service.diff(ANNA, workflow.id, 1, 2).changed
    [parameter] = change.parameters
    assert (parameter.name, parameter.before, parameter.after) == ("value", 1, 2)
    with pytest.raises(NotFound):
        desk.service.diff(ANNA, workflow.id, 1, 3)
    with pytest.raises(NotFound):
        desk.service.diff(ABROAD, WorkflowId(workflow.id), 1, 2)


def test_a_graph_is_checked_without_being_saved(desk: Desk) -> None:
    desk.compiler.faults = [Fault(Code.CYCLE, "A circle.")]
    assert [fault.code for fault in desk.service.validate(ANNA, drawn())] == [Code.CYCLE]
    preview = desk.service.preview(ANNA, drawn())
    assert [fault.code for fault in preview.faults] == [Code.CYCLE]
    assert (preview.forecast, preview.definitions) == (None, {})
    assert desk.service.list(ANNA).items == []
    assert desk.acts() == []


def test_a_preview_tells_what_a_run_would_spend(desk: Desk) -> None:
    preview = desk.service.preview(ANNA, drawn())
    definition = "stellwerk: preview"
    assert preview.definitions == {"": definition}
    assert preview.forecast == Forecast(events=7, transitions=3, size=len(definition))
    assert preview.gates == ("late",)
    assert desk.machines.definitions == {}
