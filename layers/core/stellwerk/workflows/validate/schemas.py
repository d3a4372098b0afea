"""Parameters beside their JSON Schema: which part of the schema speaks of which value."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from stellwerk.kernel.json import JsonObject, JsonValue
from stellwerk.workflows.expressions.parameters import field_of
from stellwerk.workflows.validate.wording import type_of

ALL_TYPES = frozenset({"null", "boolean", "number", "string", "array", "object"})
_BRANCHES = ("anyOf", "oneOf", "allOf")
_DEEPEST_REFERENCE = 20


@dataclass(frozen=True)
class Part:
    """A value inside parameters, where it stands, and the schemas that may speak of it."""

    place: str
    value: JsonValue
    schemas: tuple[JsonObject, ...]


@dataclass(frozen=True)
class Schema:
    """A JSON Schema whose local references can be followed."""

    root: JsonObject

    def parts(self, parameters: JsonObject) -> Iterator[Part]:
        """Yield every value of `parameters`, at any depth."""
        waiting = [
            Part(name, value, self.fields((self.root,), name)) for name, value in parameters.items()
        ]
        while waiting:
            part = waiting.pop()
            yield part
            waiting.extend(self._inner(part))

    def types(self, schema: JsonValue) -> frozenset[str]:
        """Return the JSON types that `schema` may accept; all where that is not clear."""
        found = self._followed(schema)
        allowed = _named_types(found)
        for word in ("anyOf", "oneOf"):
            branches = found.get(word)
            if isinstance(branches, list):
                allowed &= frozenset().union(*(self.types(branch) for branch in branches))
        every = found.get("allOf")
        for branch in every if isinstance(every, list) else ():
            allowed &= self.types(branch)
        return allowed or ALL_TYPES

    def fields(self, schemas: tuple[JsonObject, ...], name: str) -> tuple[JsonObject, ...]:
        """Return what `schemas` say of field `name`."""
        found: list[JsonObject] = []
        for schema in self._branches(schemas):
            properties = schema.get("properties")
            known = properties if isinstance(properties, dict) else {}
            entry = known.get(name, schema.get("additionalProperties"))
            found += [{}] if entry is True else [entry] if isinstance(entry, dict) else []
        return tuple(found)

    def closed(self, schema: JsonObject) -> bool:
        """Say whether `schema` is an object that has the fields it names and no others."""
        found = self._followed(schema)
        return found.get("additionalProperties") is False and self.types(found) == {"object"}

    def resources(self, part: Part) -> Iterator[str]:
        """Yield the kinds of things that the value of `part` is to name."""
        for schema in self._branches(part.schemas):
            kind = schema.get("x-resource")
            if isinstance(kind, str):
                yield kind

    def _inner(self, part: Part) -> Iterator[Part]:
        if isinstance(part.value, dict):
            for name, value in part.value.items():
                yield Part(field_of(part.place, name), value, self.fields(part.schemas, name))
        elif isinstance(part.value, list):
            schemas = tuple(self._items(part.schemas))
            for index, value in enumerate(part.value):
                yield Part(f"{part.place}[{index}]", value, schemas)

    def _items(self, schemas: tuple[JsonObject, ...]) -> Iterator[JsonObject]:
        for schema in self._branches(schemas):
            items = schema.get("items")
            if isinstance(items, dict):
                yield items

    def _branches(self, schemas: tuple[JsonObject, ...]) -> Iterator[JsonObject]:
        """Yield the schemas and all that they combine."""
        waiting = [self._followed(schema) for schema in schemas]
        while waiting:
            schema = waiting.pop()
            yield schema
            for word in _BRANCHES:
                branches = schema.get(word)
                for branch in branches if isinstance(branches, list) else ():
                    waiting.append(self._followed(branch))

    def _followed(self, schema: JsonValue) -> JsonObject:
        for _ in range(_DEEPEST_REFERENCE):
            if not isinstance(schema, dict) or "$ref" not in schema:
                break
            schema = self._at(str(schema["$ref"]))
        return schema if isinstance(schema, dict) else {}

    def _at(self, pointer: str) -> JsonValue:
        found: JsonValue = self.root
        for word in pointer.removeprefix("#").strip("/").split("/"):
            found = found.get(word) if isinstance(found, dict) and word else found
        return found


def _named_types(schema: JsonObject) -> frozenset[str]:
    if "const" in schema:
        return frozenset({type_of(schema["const"])})
    values = schema.get("enum")
    if isinstance(values, list):
        return frozenset(map(type_of, values))
    named = schema.get("type")
    names = named if isinstance(named, list) else [named]
    types = {"number" if name == "integer" else name for name in names if isinstance(name, str)}
    return frozenset(types) or ALL_TYPES
