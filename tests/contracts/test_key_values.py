from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor

import pytest

from stellwerk.kernel.errors import Conflict
from stellwerk.kernel.ids import WorkflowId
from stellwerk.kernel.json import JsonValue
from stellwerk.tenancy.scope import Scope
from tests.contracts.records import SCOPE, STRANGERS, WORKFLOW
from tests.contracts.stores import Stores

VALUES: list[JsonValue] = [0, False, "", "ü" * 50_000, {"a": [1, None]}]


@pytest.mark.parametrize("value", VALUES, ids=lambda value: str(value)[:10])
def test_what_was_put_is_there_until_it_is_deleted(stores: Stores, value: JsonValue) -> None:
    data = stores.key_values
    data.put(SCOPE, WORKFLOW, "key ü", "before")
    data.put(SCOPE, WORKFLOW, "key ü", value)
    assert data.get(SCOPE, WORKFLOW, "key ü") == value
    assert data.get(SCOPE, WorkflowId("w-other"), "key ü") is None
    data.delete(SCOPE, WORKFLOW, "key ü")
    assert data.get(SCOPE, WORKFLOW, "key ü") is None


def test_deleting_what_is_not_there_changes_nothing(stores: Stores) -> None:
    stores.key_values.delete(SCOPE, WORKFLOW, "key")
    assert stores.key_values.get(SCOPE, WORKFLOW, "key") is None


def test_an_increment_counts_once(stores: Stores) -> None:
    data = stores.key_values
    assert data.increment(SCOPE, WORKFLOW, "n", 2, once="a") == 2
    assert data.increment(SCOPE, WORKFLOW, "n", 0.5, once="b") == 2.5
    assert data.increment(SCOPE, WORKFLOW, "n", 2, once="a") == 2
    assert data.get(SCOPE, WORKFLOW, "n") == 2.5


def test_an_increment_stays_known_when_the_value_was_replaced(stores: Stores) -> None:
    data = stores.key_values
    data.increment(SCOPE, WORKFLOW, "n", 2, once="a")
    data.put(SCOPE, WORKFLOW, "n", 10)
    assert data.increment(SCOPE, WORKFLOW, "n", 2, once="a") == 2
    assert data.increment(SCOPE, WORKFLOW, "n", 1, once="b") == 11
    data.delete(SCOPE, WORKFLOW, "n")
    assert data.increment(SCOPE, WORKFLOW, "n", 1, once="b") == 11
    assert data.increment(SCOPE, WORKFLOW, "n", 1, once="c") == 1


@pytest.mark.parametrize("value", ["7", True, [1]])
def test_what_is_no_number_is_not_incremented(stores: Stores, value: JsonValue) -> None:
    stores.key_values.put(SCOPE, WORKFLOW, "n", value)
    with pytest.raises(Conflict, match="number"):
        stores.key_values.increment(SCOPE, WORKFLOW, "n", 1, once="a")
    assert stores.key_values.get(SCOPE, WORKFLOW, "n") == value


def test_no_increment_is_lost_among_many(stores: Stores) -> None:
    def count(number: int) -> JsonValue:
        return stores.key_values.increment(SCOPE, WORKFLOW, "n", 1, once=f"once {number}")

    with ThreadPoolExecutor(8) as pool:
        sums = list(pool.map(count, range(16)))
    assert sorted(map(str, sums)) == sorted(map(str, range(1, 17)))
    assert stores.key_values.get(SCOPE, WORKFLOW, "n") == 16


@pytest.mark.parametrize("stranger", STRANGERS)
def test_a_stranger_neither_sees_nor_changes_data(stores: Stores, stranger: Scope) -> None:
    data = stores.key_values
    data.put(SCOPE, WORKFLOW, "n", 1)
    assert data.get(stranger, WORKFLOW, "n") is None
    data.put(stranger, WORKFLOW, "n", 2)
    data.increment(stranger, WORKFLOW, "n", 5, once="a")
    data.delete(stranger, WORKFLOW, "n")
    assert data.get(SCOPE, WORKFLOW, "n") == 1
