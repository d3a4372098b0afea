from __future__ import annotations

import pytest

from stellwerk.kernel.errors import NotFound, PermanentError
from stellwerk.kernel.json import JsonValue
from stellwerk.tenancy.scope import Scope
from tests.contracts.records import RUN, SCOPE, STRANGERS
from tests.contracts.stores import Stores

EXACT: list[JsonValue] = [
    None,
    True,
    0,
    -1.5e300,
    0.1,
    12345678901234567890123456789,
    "",
    "ü 🚦 \u2028 \x00",
    "half a pair: \ud83d",
    {"b": 1, "a": [{}, [], None]},
]


def test_bytes_are_kept_as_they_are(stores: Stores) -> None:
    data = bytes(range(256))
    stores.values.put(SCOPE, "runs/r-1/x", data)
    stores.values.put(SCOPE, "runs/r-1/x", data)
    assert stores.values.get(SCOPE, "runs/r-1/x") == data


@pytest.mark.parametrize("stranger", STRANGERS)
def test_a_stranger_neither_sees_nor_changes_values(stores: Stores, stranger: Scope) -> None:
    stores.values.put(SCOPE, "runs/r-1/x", b"ours")
    with pytest.raises(NotFound):
        stores.values.get(stranger, "runs/r-1/x")
    stores.values.put(stranger, "runs/r-1/x", b"theirs")
    assert stores.values.get(SCOPE, "runs/r-1/x") == b"ours"


@pytest.mark.parametrize("value", EXACT, ids=ascii)
@pytest.mark.parametrize("large", [False, True], ids=["small", "large"])
def test_a_value_comes_back_exactly(stores: Stores, value: JsonValue, large: bool) -> None:
    whole: JsonValue = [value, "." * 40_000] if large else value
    stored = stores.keeper.keep(SCOPE, RUN, whole)
    assert (stored.ref is not None) == large
    back = stores.keeper.load(SCOPE, stored)
    assert back == whole
    assert str(back) == str(whole)


def test_a_value_stays_in_its_row_up_to_32_kib(stores: Stores) -> None:
    assert stores.keeper.keep(SCOPE, RUN, "x" * (32 * 1024 - 2)).ref is None
    assert stores.keeper.keep(SCOPE, RUN, "x" * (32 * 1024 - 1)).ref is not None
    assert stores.keeper.keep(SCOPE, RUN, "ü" * (16 * 1024)).ref is not None


def test_ten_mebibytes_are_kept_by_reference(stores: Stores) -> None:
    large = "0123456789abcdef" * (10 * 1024 * 1024 // 16)
    stored = stores.keeper.keep(SCOPE, RUN, large)
    assert stored.text is None
    assert stored.ref is not None
    assert stored.ref.size == len(large) + 2
    assert stores.keeper.load(SCOPE, stored) == large


@pytest.mark.parametrize("damage", [b"", b"[]", b"x"])
def test_a_damaged_value_is_not_taken_for_good(stores: Stores, damage: bytes) -> None:
    stored = stores.keeper.keep(SCOPE, RUN, "x" * 50_000)
    assert stored.ref is not None
    stores.values.put(SCOPE, stored.ref.key, damage)
    with pytest.raises(PermanentError, match="damaged"):
        stores.keeper.load(SCOPE, stored)


def test_what_is_not_json_is_refused(stores: Stores) -> None:
    with pytest.raises(ValueError, match="JSON"):
        stores.keeper.keep(SCOPE, RUN, float("nan"))
