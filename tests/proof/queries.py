"""JSONata as Step Functions evaluates it: strict about variables that were never assigned."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache

import jsonata
from jsonata.utils import Utils

from stellwerk.kernel.json import JsonValue

_TEXT = re.compile(r'"(?:\\.|[^"\\])*"|\'(?:\\.|[^\'\\])*\'')
_NAME = re.compile(r"\$([A-Za-z_]\w*)(?!\w*\s*\()")
_LOCAL = re.compile(r"\$([A-Za-z_]\w*)\s*:=|function\s*\(([^)]*)\)")


class QueryFailed(Exception):
    """`States.QueryEvaluationError`."""


@dataclass(frozen=True)
class _Query:
    program: jsonata.Jsonata
    names: frozenset[str]


def resolve(template: JsonValue, names: Mapping[str, JsonValue]) -> JsonValue:
    """Return `template` with its `{% %}` expressions evaluated; raise QueryFailed."""
    if isinstance(template, str) and template.startswith("{%") and template.endswith("%}"):
        return evaluate(template[2:-2].strip(), names)
    if isinstance(template, dict):
        return {key: resolve(value, names) for key, value in template.items()}
    if isinstance(template, list | tuple):
        return [resolve(value, names) for value in template]
    return template


def evaluate(source: str, names: Mapping[str, JsonValue]) -> JsonValue:
    """Return the value of one expression; raise QueryFailed if it has none."""
    query = _parse(source)
    missing = [name for name in query.names if name not in names]
    if missing:
        raise QueryFailed(f"never assigned: {missing} in {source}")
    bound = {name: Utils.NULL_VALUE if names[name] is None else names[name] for name in query.names}
    try:
        result = query.program.evaluate(None, bound)
    except jsonata.JException as error:
        raise QueryFailed(f"{error} in {source}") from error
    if result is None:
        raise QueryFailed(f"undefined: {source}")
    return _plain(result)


@lru_cache(maxsize=50_000)
def _parse(source: str) -> _Query:
    try:
        program = jsonata.Jsonata(source)
    except jsonata.JException as error:
        raise QueryFailed(f"{error} in {source}") from error
    program.set_output_convert_nulls(False)
    bare = _TEXT.sub("''", source)
    local = {
        name.strip(" $") for found in _LOCAL.findall(bare) for name in ",".join(found).split(",")
    }
    return _Query(program, frozenset(_NAME.findall(bare)) - local)


def _plain(value: object) -> JsonValue:
    """Return the result as plain JSON: one kind of null and of list, whole numbers as such."""
    if value is None or value is Utils.NULL_VALUE:
        return None
    if isinstance(value, bool | str | int):
        return value
    if isinstance(value, float):
        return int(value) if value.is_integer() else value
    if isinstance(value, dict):
        return {str(key): _plain(item) for key, item in value.items()}
    if isinstance(value, list | range):
        return [_plain(item) for item in value]
    raise QueryFailed(f"not JSON: {type(value).__name__}")
