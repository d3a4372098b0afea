"""The parameters of a node type as a table: name, type, meaning, default, example."""

from __future__ import annotations

from collections.abc import Iterable

from localcloud.cli.listing import Column, Fit, Listing
from stellwerk.kernel.json import JsonObject, JsonValue, dumps


def parameter_table(schema: JsonObject) -> Listing:
    """Return what a JSON Schema of parameters says; of parameters within them only the type."""
    table = Listing(
        Column("parameter"),
        Column("type", Fit.TEXT, 10),
        Column("needed"),
        Column("description", Fit.TEXT, 30),
        Column("default", Fit.VALUE, 10),
        Column("example", Fit.VALUE, 16),
    )
    needed = schema.get("required")
    for name, found in _members(schema.get("properties")):
        given = found.get("default")
        examples = found.get("examples")
        table.add(
            name,
            _type(found),
            "yes" if isinstance(needed, list) and name in needed else "",
            str(found.get("description", "")),
            "" if given is None or given == "" else dumps(given),
            dumps(examples[0]) if isinstance(examples, list) and examples else "",
        )
    return table


def _members(properties: JsonValue) -> Iterable[tuple[str, JsonObject]]:
    members = properties.items() if isinstance(properties, dict) else ()
    return [(name, found) for name, found in members if isinstance(found, dict)]


def _type(schema: JsonObject) -> str:
    """Return the type in a few words: `string`, `json, text or form`, `any`."""
    choices, ways, name = schema.get("enum"), schema.get("anyOf"), schema.get("type")
    if isinstance(choices, list):
        return _either([str(choice) for choice in choices])
    if isinstance(ways, list):
        types = [_type(way) for way in ways if isinstance(way, dict)]
        return _either([each for each in dict.fromkeys(types) if each != "null"])
    return name if isinstance(name, str) else "any"


def _either(words: list[str]) -> str:
    *others, last = words
    return f"{', '.join(others)} or {last}" if others else last
