"""template.yaml as data: short forms written out, and loops over names expanded."""

from __future__ import annotations

import json
import re
from pathlib import Path

import yaml
from pydantic import TypeAdapter

from stellwerk.kernel.json import JsonObject, JsonValue

ROOT = Path(__file__).parent.parent.parent
_OBJECT: TypeAdapter[JsonObject] = TypeAdapter(JsonObject)
_NAMES = TypeAdapter(list[str])
_LOOP = "Fn::ForEach::"


class _Loader(yaml.SafeLoader):
    """Reads YAML in which `!Sub x` stands for `{"Fn::Sub": x}`."""


def _short_form(loader: _Loader, name: str, node: yaml.Node) -> object:
    value: object
    if isinstance(node, yaml.MappingNode):
        value = loader.construct_mapping(node, deep=True)
    elif isinstance(node, yaml.SequenceNode):
        value = loader.construct_sequence(node, deep=True)
    else:
        value = str(node.value)
    if name == "GetAtt":
        return {"Fn::GetAtt": str(value).split(".")}
    return {name if name == "Ref" else f"Fn::{name}": value}


yaml.add_multi_constructor("!", _short_form, Loader=_Loader)


def load() -> JsonObject:
    """Return the template as written, short forms written out."""
    text = (ROOT / "template.yaml").read_text(encoding="utf-8")
    return _OBJECT.validate_python(yaml.load(text, Loader=_Loader))


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
