"""From the text of a file to a graph: JSON and its traps, then the form. All faults at once."""

from __future__ import annotations

import json
import math
import re
from collections import Counter
from collections.abc import Iterator
from itertools import chain

from pydantic import BaseModel, ValidationError
from pydantic_core import ErrorDetails

from stellwerk.catalogue.model import NodeType
from stellwerk.kernel.ids import NodeKey
from stellwerk.kernel.json import JsonObject, JsonValue
from stellwerk.workflows.expressions.parameters import field_of
from stellwerk.workflows.faults import Code, Fault, InvalidGraph
from stellwerk.workflows.graph import Edge, Graph, Node
from stellwerk.workflows.validate.edges import check_cycles, check_ends, check_repetitions
from stellwerk.workflows.validate.keys import check_keys
from stellwerk.workflows.validate.loops import check_borders, check_parents
from stellwerk.workflows.validate.subject import Subject
from stellwerk.workflows.validate.wording import did_you_mean, shown, type_of, type_words

LARGEST = 20_000_000
DEEPEST = 100
_MOST_DIGITS = 300
_NODE = re.compile(r"nodes\[(\d+)\]")
_MODELS: dict[str, type[BaseModel]] = {"nodes": Node, "edges": Edge}
_HOPELESS = {Code.NESTED_TOO_DEEPLY, Code.TEXT_NOT_UNICODE}
_STRUCTURE = (check_ends, check_repetitions, check_cycles, check_parents, check_borders)


def read_graph(text: str) -> Graph:
    """Return the graph that `text` holds.

    Raises InvalidGraph with all that is wrong with text and fields and, if anything is, with keys
    and edges of the rest. Whether a graph that can be read makes sense, `validate` says.
    """
    document = _parsed(text.removeprefix("\ufeff"))
    traps = list(_traps(document))
    if any(fault.code in _HOPELESS for fault in traps):
        raise InvalidGraph(traps)
    if not isinstance(document, dict) or "nodes" not in document:
        is_object = isinstance(document, dict)
        what = "an object without nodes" if is_object else type_words([type_of(document)])
        raise InvalidGraph([*traps, Fault(Code.NOT_A_GRAPH, f"The file holds {what}.")])
    try:
        graph = Graph.model_validate(document)
    except ValidationError as error:
        known = {fault.place for fault in traps}
        found = (_field_fault(details, document) for details in error.errors(include_url=False))
        traps += [fault for fault in found if fault.place not in known]
    else:
        if not traps:
            return graph
    raise InvalidGraph(chain(traps, _faults_of_rest(document)))


class _Repeated(dict[str, JsonValue]):
    """An object that named fields twice."""

    names: tuple[str, ...] = ()


class _NotFinite(str):
    """What stood where JSON needs a finite number."""

    __slots__ = ()


def _parsed(text: str) -> JsonValue:
    if len(text) > LARGEST:
        message = f"The file has {len(text):,} characters; at most {LARGEST:,} are allowed."
        raise InvalidGraph([Fault(Code.DOCUMENT_TOO_LARGE, message)])
    try:
        document: JsonValue = json.loads(
            text,
            object_pairs_hook=_object,
            parse_constant=_NotFinite,
            parse_float=_float,
            parse_int=_int,
        )
    except json.JSONDecodeError as error:
        place = f"line {error.lineno}, column {error.colno}"
        message = f"The file is not JSON: {error.msg[:1].lower()}{error.msg[1:]} at {place}."
        raise InvalidGraph([Fault(Code.NOT_JSON, message, place=place)]) from error
    except RecursionError as error:
        message = "Lists or objects are nested too deeply to be read."
        raise InvalidGraph([Fault(Code.NESTED_TOO_DEEPLY, message)]) from error
    return document


def _object(pairs: list[tuple[str, JsonValue]]) -> dict[str, JsonValue]:
    entries = dict(pairs)
    if len(entries) == len(pairs):
        return entries
    counts = Counter(name for name, _ in pairs)
    found = _Repeated(entries)
    found.names = tuple(name for name, count in counts.items() if count > 1)
    return found


def _float(text: str) -> float | str:
    number = float(text)
    return number if math.isfinite(number) else _NotFinite(text)


def _int(text: str) -> int | str:
    return int(text) if len(text) <= _MOST_DIGITS else _NotFinite(text)


def _traps(document: JsonValue) -> Iterator[Fault]:
    """Yield what JSON allows, or Python reads, and no graph may hold."""
    waiting: list[tuple[JsonValue, str, int]] = [(document, "", 0)]
    while waiting:
        value, place, depth = waiting.pop()
        yield from _trap(value, place, document)
        if depth == DEEPEST and isinstance(value, list | dict):
            message = f"{place[:80]}… is nested more than {DEEPEST} deep."
            yield Fault(Code.NESTED_TOO_DEEPLY, message, place=place)
        elif isinstance(value, dict):
            waiting += [(item, _under(place, key), depth + 1) for key, item in value.items()]
        elif isinstance(value, list):
            waiting += [(item, f"{place}[{i}]", depth + 1) for i, item in enumerate(value)]


def _trap(value: JsonValue, place: str, document: JsonValue) -> Iterator[Fault]:
    where = place or "The file"
    if isinstance(value, _NotFinite):
        message = f"{where} is {shown(str(value))}, which is no finite number."
        yield Fault(Code.NUMBER_NOT_FINITE, message, node=_node_at(place, document), place=place)
    elif isinstance(value, str) and _broken(value):
        message = f"{where} holds half of a character."
        yield Fault(Code.TEXT_NOT_UNICODE, message, node=_node_at(place, document), place=place)
    elif isinstance(value, dict):
        for name in value.names if isinstance(value, _Repeated) else ():
            message = f"{where} has field {shown(name)} more than once."
            node = _node_at(place, document)
            yield Fault(Code.FIELD_REPEATED, message, node=node, place=_under(place, name))
        for _ in filter(_broken, value):
            message = f"{where} has a field whose name holds half of a character."
            yield Fault(Code.TEXT_NOT_UNICODE, message, node=_node_at(place, document), place=place)


def _broken(text: str) -> bool:
    """Say whether `text` holds a lone half of a surrogate pair, which UTF-8 cannot store."""
    return not text.isascii() and any("\ud800" <= sign <= "\udfff" for sign in text)


def _under(place: str, name: str) -> str:
    safe = name.encode("ascii", "backslashreplace").decode() if _broken(name) else name
    return field_of(place, safe) if place else safe


def _node_at(place: str, document: JsonValue) -> NodeKey | None:
    """Return the key of the node that `place` is in, if it can be read."""
    match = _NODE.match(place)
    nodes = document.get("nodes") if match and isinstance(document, dict) else None
    node = nodes[int(match.group(1))] if match and isinstance(nodes, list) else None
    key = node.get("key") if isinstance(node, dict) else None
    return NodeKey(key) if isinstance(key, str) else None


def _keys(document: JsonValue) -> dict[int, NodeKey]:
    """Return the keys of the nodes by position, where they are texts."""
    return {
        position: NodeKey(key)
        for position, node in enumerate(_entries(document, "nodes"))
        if isinstance(key := node.get("key"), str)
    }


def _entries(document: JsonValue, name: str) -> list[JsonObject]:
    """Return the list `name` of the document; empty objects stand for what is none."""
    entries = document.get(name) if isinstance(document, dict) else None
    items = entries if isinstance(entries, list) else []
    return [item if isinstance(item, dict) else {} for item in items]


def _field_fault(details: ErrorDetails, document: JsonValue) -> Fault:
    place = ""
    for word in details["loc"]:
        place = f"{place}[{word}]" if isinstance(word, int) else _under(place, word)
    node = _node_at(place, document)
    where = f"{place} (node {node})" if node else place or "The file"
    if details["type"] == "missing":
        return Fault(Code.FIELD_MISSING, f"{where} is missing.", node=node, place=place)
    if details["type"] == "extra_forbidden":
        remedy = did_you_mean(str(details["loc"][-1]), _fields(details["loc"]))
        return Fault(
            Code.FIELD_UNKNOWN,
            f"{where} is no field that has a meaning.",
            remedy,
            node,
            None,
            None,
            place,
        )
    reason = details["msg"]
    message = f"{where} is {shown(details['input'])}: {reason[:1].lower()}{reason[1:]}."
    return Fault(Code.FIELD_INVALID, message, node=node, place=place)


def _fields(location: tuple[int | str, ...]) -> list[str]:
    """Return the names of the fields that could have been meant at a location."""
    model = _MODELS.get(str(location[0]), Graph) if len(location) == 3 else Graph
    return [info.alias or name for name, info in model.model_fields.items()]


def _faults_of_rest(document: JsonObject) -> Iterator[Fault]:
    """Yield what is wrong with keys and edges; nodes that cannot be read stand for themselves."""
    keys = _keys(document)
    yield from check_keys(keys)
    parents = [node.get("parent") for node in _entries(document, "nodes")]
    nodes = (
        Node(key=key, type="", parent=parent if isinstance(parent := parents[at], str) else None)
        for at, key in keys.items()
    )
    edges = filter(None, map(_edge, _entries(document, "edges")))
    subject = Subject(Graph(nodes=tuple(nodes), edges=tuple(edges)), _NoTypes())
    for rule in _STRUCTURE:
        yield from rule(subject)


def _edge(entry: JsonObject) -> Edge | None:
    try:
        return Edge.model_validate(entry)
    except ValidationError:
        return None


class _NoTypes:
    """No types at all, for rules that need none."""

    def find(self, name: str) -> NodeType | None:
        return None
