"""Names by which things are found again."""

from __future__ import annotations

import pytest

from stellwerk.kernel.ids import Path, RunId
from stellwerk.runs.names import (
    ExecutionName,
    child_delivery,
    chunk_name,
    execution_name,
    read_execution_name,
    within,
)
from tests.runs.stage import key_of

RUN = RunId("01m6dqs9m0tcbxptd6w9kpye10")


def test_an_executions_name_says_whose_it_is() -> None:
    assert read_execution_name(execution_name(RUN, 3)) == ExecutionName(RUN, 3, chunk=False)
    name = chunk_name(RUN, 12, key_of("lines", "orders[3]"), 40)
    assert read_execution_name(name) == ExecutionName(RUN, 12, chunk=True)
    assert len(name) <= 80


@pytest.mark.parametrize("name", ["", "somebody-elses", "x-g", f"{RUN}-g1-odd"])
def test_other_names_say_nothing(name: str) -> None:
    assert read_execution_name(name) is None


def test_a_child_is_delivered_once_per_step_and_generation() -> None:
    key = key_of("call", "lines[3]")
    assert child_delivery(RUN, key, 1) == f"child:{RUN}:lines[3].call:1"


@pytest.mark.parametrize(
    ("path", "scope", "expected"),
    [
        ("a[1]", "", True),
        ("a[1]", "a[1]", True),
        ("a[1].b[0]", "a[1]", True),
        ("a[11]", "a[1]", False),
        ("", "a[1]", False),
    ],
)
def test_a_place_is_within_a_scope_only_at_whole_names(
    path: str, scope: str, *, expected: bool
) -> None:
    assert within(Path(path), Path(scope)) is expected
