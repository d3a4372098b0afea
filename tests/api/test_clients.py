"""What makers of typed clients need of the document, and readers of its examples."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator

import pytest
from jsonschema import Draft202012Validator, FormatChecker

from scripts.openapi import PAGE
from stellwerk.kernel.json import JsonObject, JsonValue

DOCUMENT: JsonObject = json.loads(PAGE.read_text(encoding="utf-8"))
FORMATS = FormatChecker()


def nodes(value: JsonValue, place: str = "#") -> Iterator[tuple[str, JsonObject]]:
    """Yield all objects of the document with their places; examples are no part of it."""
    if isinstance(value, dict):
        yield place, value
        named = place.endswith("/properties")
        for name, part in value.items():
            if named or name not in {"example", "examples", "default", "const", "enum"}:
                yield from nodes(part, f"{place}/{name.replace('~', '~0').replace('/', '~1')}")
    elif isinstance(value, list):
        for number, part in enumerate(value):
            yield from nodes(part, f"{place}/{number}")


def examples() -> Iterator[tuple[str, JsonValue]]:
    """Yield all examples with the places of their schemas."""
    for place, node in nodes(DOCUMENT):
        if place.endswith("/properties"):
            continue
        at = f"{place}/schema" if "schema" in node else place
        told = node.get("examples", [])
        assert isinstance(told, list), place
        for example in [*told, *([node["example"]] if "example" in node else [])]:
            yield at, example


EXAMPLES = list(examples())
OPERATIONS = [node for _, node in nodes(DOCUMENT) if "operationId" in node]


@pytest.mark.parametrize(("place", "example"), EXAMPLES, ids=[place for place, _ in EXAMPLES])
def test_an_example_fits_its_schema(place: str, example: JsonValue) -> None:
    schema: JsonObject = {**DOCUMENT, "$ref": place}
    faults = Draft202012Validator(schema, format_checker=FORMATS).iter_errors(example)
    assert [f"{fault.json_path}: {fault.message}" for fault in faults] == []


def test_operations_have_names_of_their_own_that_are_words_of_programs() -> None:
    names = [str(operation["operationId"]) for operation in OPERATIONS]
    assert len(set(names)) == len(names)
    assert [name for name in names if not re.fullmatch(r"[a-z][A-Za-z]*", name)] == []


def test_json_that_is_sent_or_answered_has_a_schema_with_a_name() -> None:
    unnamed = [
        place
        for place, node in nodes(DOCUMENT)
        if re.search(r"/content/application~1[a-z+]*json$", place)
        and isinstance(schema := node["schema"], dict)
        and not str(schema.get("$ref")).startswith("#/components/schemas/")
    ]
    assert unnamed == []


def test_all_that_is_referred_to_is_there() -> None:
    there = {place for place, _ in nodes(DOCUMENT)}
    wanted = {str(node["$ref"]) for place, node in nodes(DOCUMENT) if "$ref" in node}
    assert wanted - there == set()
