from __future__ import annotations

from datetime import timedelta

import pytest

from stellwerk.kernel.errors import BadInput, Conflict
from stellwerk.kernel.ids import ROOT, NodeKey, Path, RunId
from stellwerk.runs.model import Attempt, Failure, Step, StepKey, StepStatus
from stellwerk.tenancy.scope import Scope
from stellwerk.workflows.graph import inside
from tests.contracts.records import RUN, SCOPE, START, STRANGERS, run, step
from tests.contracts.stores import Stores

ODD = 'äöü \u2028 🚦 "\\ \x00 {% $x %} {{ y }}'


def lines(count: int) -> list[Step]:
    return [step("lines", Path(f"lines[{index}]"), value=str(index)) for index in range(count)]


def test_what_was_written_is_read_exactly(stores: Stores) -> None:
    written = step(value=ODD).model_copy(
        update={
            "attempts": (Attempt(started=START, error=Failure(type="Odd", message=ODD)),),
            "lease": START + timedelta(minutes=15),
            "status": StepStatus.UNCERTAIN,
        }
    )
    stored = stores.journal.write(SCOPE, written)
    assert stored == written.model_copy(update={"revision": 1})
    assert stores.journal.read(SCOPE, RUN, [written.key]) == {written.key: stored}


def test_only_the_keys_that_exist_are_read(stores: Stores) -> None:
    stores.journal.write(SCOPE, step("here"))
    keys = [StepKey(path=ROOT, node=NodeKey(node)) for node in ("here", "absent", "here")]
    assert set(stores.journal.read(SCOPE, RUN, keys)) == {keys[0]}
    assert stores.journal.read(SCOPE, RUN, []) == {}


@pytest.mark.parametrize("revision", [0, 2, 7])
def test_a_write_on_another_revision_is_refused(stores: Stores, revision: int) -> None:
    first = stores.journal.write(SCOPE, step())
    wrong = step(value="other").model_copy(update={"revision": revision})
    with pytest.raises(Conflict):
        stores.journal.write(SCOPE, wrong)
    assert stores.journal.read(SCOPE, RUN, [first.key]) == {first.key: first}


def test_a_first_write_that_claims_a_revision_is_refused(stores: Stores) -> None:
    with pytest.raises(Conflict):
        stores.journal.write(SCOPE, step().model_copy(update={"revision": 1}))


def test_revisions_count_the_writes(stores: Stores) -> None:
    entry = step()
    for _ in range(3):
        entry = stores.journal.write(SCOPE, entry)
    assert entry.revision == 3


def test_a_loop_of_250_items_is_filled_and_read_in_one_call_each(stores: Stores) -> None:
    entries = lines(250)
    stores.journal.fill(SCOPE, RUN, entries)
    found = stores.journal.read(SCOPE, RUN, [entry.key for entry in entries])
    assert len(found) == 250
    assert {entry.value for entry in found.values()} == {entry.value for entry in entries}


def test_a_filled_entry_can_be_written_on_its_revision(stores: Stores) -> None:
    stores.journal.fill(SCOPE, RUN, lines(1))
    [filled] = stores.journal.steps(SCOPE, RUN)
    assert filled.revision == 1
    assert stores.journal.write(SCOPE, filled).revision == 2


def test_of_equal_keys_the_last_is_filled(stores: Stores) -> None:
    stores.journal.fill(SCOPE, RUN, [step(value="1"), step(value="2")])
    [filled] = stores.journal.steps(SCOPE, RUN)
    assert filled.value == step(value="2").value


def test_all_steps_of_a_run_are_found_at_every_depth(stores: Stores) -> None:
    stores.journal.write(SCOPE, step("lines"))
    stores.journal.fill(SCOPE, RUN, lines(30))
    deep = Path("lines[3].tries[0]")
    stores.journal.write(SCOPE, step("tries", deep, kind="scope"))
    stores.journal.write(SCOPE, step("check", deep))
    stores.journal.write(SCOPE, step("other", run=RunId("r-2")))
    found = {entry.key.text for entry in stores.journal.steps(SCOPE, RUN)}
    assert len(found) == 33
    assert {"lines", "lines[29].lines", "lines[3].tries[0].check"} <= found


def test_the_first_pass_of_a_counted_loop_makes_its_steps_known(stores: Stores) -> None:
    stores.journal.write(SCOPE, step("again", Path("again[0]"), kind="scope"))
    stores.journal.write(SCOPE, step("work", Path("again[0]")))
    found = {entry.key.text for entry in stores.journal.steps(SCOPE, RUN)}
    assert found == {"again[0].again", "again[0].work"}
    with pytest.raises(Conflict):
        stores.journal.write(SCOPE, step("again", Path("again[0]"), kind="scope"))


def test_a_run_without_steps_has_none(stores: Stores) -> None:
    assert list(stores.journal.steps(SCOPE, RUN)) == []


@pytest.mark.parametrize("stranger", STRANGERS)
def test_a_stranger_neither_sees_nor_changes_steps(stores: Stores, stranger: Scope) -> None:
    written = stores.journal.write(SCOPE, step())
    assert stores.journal.read(stranger, RUN, [written.key]) == {}
    assert list(stores.journal.steps(stranger, RUN)) == []
    with pytest.raises(Conflict):
        stores.journal.write(stranger, written)
    stores.journal.fill(stranger, RUN, [step(value="theirs")])
    assert stores.journal.read(SCOPE, RUN, [written.key]) == {written.key: written}


@pytest.mark.parametrize("limit", [1, 3, 7, 100])
def test_pages_together_are_all_steps_those_at_the_top_first(stores: Stores, limit: int) -> None:
    stores.runs.create(SCOPE, run())
    steps = [step(f"n{number}") for number in range(3)]
    steps += [step("in", inside(ROOT, NodeKey("lines"), number)) for number in range(9)]
    stores.journal.fill(SCOPE, RUN, steps)
    found: list[Step] = []
    cursor: str | None = None
    while True:
        page = stores.journal.page(SCOPE, RUN, cursor=cursor, limit=limit)
        assert len(page.items) <= limit
        found += page.items
        cursor = page.cursor
        if cursor is None:
            break
    assert len(found) == 12
    assert {each.key for each in found} == {each.key for each in steps}
    assert all(each.path == ROOT for each in found[:3])
    for stranger in STRANGERS:
        assert stores.journal.page(stranger, RUN).items == []


@pytest.mark.parametrize("cursor", ["nonsense", "WzIwLCAiYSJd", "WzFd"])
def test_what_is_no_cursor_is_refused(stores: Stores, cursor: str) -> None:
    with pytest.raises(BadInput):
        stores.journal.page(SCOPE, RUN, cursor=cursor)
