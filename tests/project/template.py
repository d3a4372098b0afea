"""template.yaml as data: short forms written out, and loops over names expanded."""

from __future__ import annotations

import json
import re
from pathlib import Path

from pydantic import TypeAdapter

from scripts.policies import written
from stellwerk.kernel.json import JsonObject, JsonValue

ROOT = Path(__file__).parent.parent.parent
_OBJECT: TypeAdapter[JsonObject] = TypeAdapter(JsonObject)
_NAMES = TypeAdapter(list[str])
_LOOP = "Fn::ForEach::"


def load() -> JsonObject:
    """Return the template as written, short forms written out."""
    return written(ROOT / "template.yaml")


def names(template: JsonObject, loop: str) -> list[str]:
    """Return what the resource loop `loop` (`Nodes`, `Actions`) runs over."""
    body = section(template, "Resources")[f"{_LOOP}{loop}"]
    assert isinstance(body, list)
    return _NAMES.validate_python(body[1])


def resources(template: JsonObject) -> dict[str, JsonObject]:
    """Return all resources by logical id, those of loops written out once per name."""
    found: dict[str, JsonObject] = {}
    for logical, body in section(template, "Resources").items():
        if not logical.startswith(_LOOP):
            found[logical] = _OBJECT.validate_python(body)
            continue
        assert isinstance(body, list)
        for name in _NAMES.validate_python(body[1]):
            for key, resource in _OBJECT.validate_python(body[2]).items():
                identifier = key.replace("&{Name}", re.sub(r"[^A-Za-z0-9]", "", name))
                assert identifier not in found, f"two resources are called {identifier}"
                found[identifier] = _named(resource, name)
    return found


def section(data: JsonObject, *path: str) -> JsonObject:
    """Return the object at `path`."""
    for key in path:
        data = _OBJECT.validate_python(data[key])
    return data


def _named(resource: JsonValue, name: str) -> JsonObject:
    return _OBJECT.validate_json(json.dumps(resource).replace("${Name}", name))
