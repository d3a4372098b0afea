"""The functions that template.yaml declares: their names, handlers, timeouts and memory.

Knows what the template uses of `Fn::ForEach`, `Fn::Sub`, `Fn::Join`, `Fn::Split` and `Ref`.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeAlias

import yaml

from localcloud.functions import Function, FunctionNotFound, load

Node: TypeAlias = Any
"""A piece of parsed YAML."""

FILE = Path(__file__).resolve().parent.parent / "template.yaml"
"""The product's template, in a checkout; an installed package has none."""
_FUNCTION = "AWS::Serverless::Function"
_LOOP = "Fn::ForEach::"
_SECONDS = {"minute": 60.0, "hour": 3600.0, "day": 86_400.0}


@dataclass(frozen=True)
class Declared:
    """A function as the template declares it."""

    name: str
    handler: str
    timeout: float
    memory: int
    rate: float | None = None
    """Seconds between two calls by the clock; None: it is not called so."""
    streams: tuple[Mapping[str, Any], ...] = ()
    """Which records of the stream of the table `runs` it wants."""


class Template:
    """Functions by name, as the template declares them; modules are imported at first use."""

    def __init__(self, path: Path, prefix: str = "stellwerk") -> None:
        document = yaml.load(path.read_text(), _Loader)
        defaults = document.get("Globals", {}).get("Function", {})
        self._declared = {
            one.name: one for one in _functions(document["Resources"], defaults, {"Prefix": prefix})
        }
        self._found: dict[str, Function] = {}

    @property
    def declared(self) -> Mapping[str, Declared]:
        """All functions by name."""
        return self._declared

    @property
    def rates(self) -> Mapping[str, float]:
        """Seconds between two calls, for functions that are called by the clock."""
        return {one.name: one.rate for one in self._declared.values() if one.rate is not None}

    @property
    def streams(self) -> Mapping[str, Sequence[Mapping[str, Any]]]:
        """For functions that read the stream of the table `runs`, which records they want."""
        return {one.name: one.streams for one in self._declared.values() if one.streams}

    def find(self, name: str) -> Function:
        """Return the function called `name`. Raises FunctionNotFound."""
        if name not in self._found:
            one = self._declared.get(name)
            if one is None:
                raise FunctionNotFound(f"template.yaml declares no function called '{name}'")
            self._found[name] = Function(name, load(one.handler), one.timeout, one.memory)
        return self._found[name]


def _functions(
    resources: Mapping[str, Node], defaults: Mapping[str, Node], names: Mapping[str, str]
) -> Iterator[Declared]:
    for key, resource in resources.items():
        if key.startswith(_LOOP):
            variable, values, body = resource
            for value in _resolved(values, names):
                yield from _functions(body, defaults, {**names, variable: value})
        elif resource.get("Type") == _FUNCTION:
            yield _declared({**defaults, **resource["Properties"]}, names)


def _declared(properties: Mapping[str, Node], names: Mapping[str, str]) -> Declared:
    return Declared(
        name=_resolved(properties["FunctionName"], names),
        handler=_resolved(properties["Handler"], names),
        timeout=float(properties.get("Timeout", 3)),
        memory=int(properties.get("MemorySize", 128)),
        rate=next(_rates(properties.get("Events", {})), None),
        streams=tuple(_patterns(properties.get("Events", {}))),
    )


def _rates(events: Mapping[str, Node]) -> Iterator[float]:
    """Yield the seconds of schedules such as `rate(5 minutes)`."""
    for event in events.values():
        if event["Type"] == "Schedule":
            text = event["Properties"]["Schedule"]
            found = re.fullmatch(r"rate\((\d+) (minute|hour|day)s?\)", text)
            if found is None:
                raise ValueError(f"the local cloud knows no schedule such as '{text}'")
            yield float(found[1]) * _SECONDS[found[2]]


def _patterns(events: Mapping[str, Node]) -> Iterator[Mapping[str, Any]]:
    """Yield the patterns of event source mappings of a table's stream."""
    for event in events.values():
        if event["Type"] == "DynamoDB":
            for filtered in event["Properties"]["FilterCriteria"]["Filters"]:
                yield json.loads(filtered["Pattern"])


def _resolved(node: Node, names: Mapping[str, str]) -> Node:
    if isinstance(node, list):
        return [_resolved(item, names) for item in node]
    if isinstance(node, str):
        return _substituted(node, names)
    if not isinstance(node, dict) or len(node) != 1:
        return node
    ((function, argument),) = node.items()
    match function:
        case "Ref":
            return names[argument]
        case "Fn::Sub" if isinstance(argument, list):
            text, more = argument
            known = {key: _resolved(value, names) for key, value in more.items()}
            return _substituted(text, {**names, **known})
        case "Fn::Sub":
            return _substituted(argument, names)
        case "Fn::Join":
            glue, parts = argument
            return glue.join(_resolved(parts, names))
        case "Fn::Split":
            glue, text = argument
            return str(_resolved(text, names)).split(glue)
        case _:
            return node


def _substituted(text: str, names: Mapping[str, str]) -> str:
    return re.sub(r"\$\{(\w+)\}", lambda found: names.get(found[1], found[0]), text)


class _Loader(yaml.SafeLoader):
    """YAML with CloudFormation's short tags."""


def _tagged(loader: yaml.SafeLoader, suffix: str, node: yaml.Node) -> Node:
    if isinstance(node, yaml.ScalarNode):
        value: Node = loader.construct_scalar(node)
    elif isinstance(node, yaml.SequenceNode):
        value = loader.construct_sequence(node, deep=True)
    else:
        value = loader.construct_mapping(node, deep=True)  # type: ignore[arg-type]
    return {suffix if suffix == "Ref" else f"Fn::{suffix}": value}


_Loader.add_multi_constructor("!", _tagged)
