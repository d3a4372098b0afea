from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
from pydantic import TypeAdapter

from stellwerk.catalogue.model import NodeType
from stellwerk.catalogue.store import StoredCatalogue
from tests.fakes.catalogue import node_type

IF = replace(node_type("flow.if"), aliases=("if",), ports=("true", "false"))
SET = node_type("data.set", parameters={"type": "object", "properties": {"values": {}}})


@pytest.fixture
def catalogue(tmp_path: Path) -> StoredCatalogue:
    file = tmp_path / "catalogue.json"
    file.write_bytes(TypeAdapter(list[NodeType]).dump_json([IF, SET]))
    return StoredCatalogue(file)


def test_types_are_found_by_name_and_by_alias(catalogue: StoredCatalogue) -> None:
    assert catalogue.find("flow.if") == IF
    assert catalogue.find("if") == IF
    assert catalogue.find("flow.unknown") is None


def test_all_types_are_listed_by_name(catalogue: StoredCatalogue) -> None:
    assert catalogue.types() == (SET, IF)


def test_the_file_is_not_read_before_it_is_needed(tmp_path: Path) -> None:
    catalogue = StoredCatalogue(tmp_path / "later.json")
    with pytest.raises(FileNotFoundError):
        catalogue.find("flow.if")
