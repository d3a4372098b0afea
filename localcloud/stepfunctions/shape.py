"""A definition as scopes of states and the ways between them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import TypeAlias

from localcloud.stepfunctions.json_values import Json

Object: TypeAlias = "dict[str, Json]"


@dataclass(frozen=True)
class Way:
    """A transition and the names of the variables that it assigns."""

    target: str
    assigns: frozenset[str]


@dataclass(frozen=True)
class State:
    """One state: its JSON, the ways out of it, and the scopes inside."""

    name: str
    body: Object
    jsonata: bool
    ways: tuple[Way, ...]
    scopes: tuple[Scope, ...]

    @property
    def kind(self) -> str:
        """The state's Type."""
        return str(self.body.get("Type"))

    def objects(self, name: str) -> list[Object]:
        """The JSON objects in a list field, such as Catch."""
        return _objects(self.body.get(name))

    def path_fields(self, known: set[str]) -> set[str]:
        """Fields of the JSONPath mode in a state of the JSONata mode."""
        return known & self.body.keys() if self.jsonata else set()

    def expressions(self) -> Iterator[str]:
        """The JSONata sources in this state, those of the scopes inside excepted."""
        if self.jsonata:
            for key, value in self.body.items():
                if key not in _NESTED and key != "Comment":
                    yield from _sources(value)


@dataclass(frozen=True)
class Scope:
    """The machine, a branch, or the body of a Map."""

    place: str
    start: str
    states: dict[str, State] = field(default_factory=dict)

    def all(self) -> Iterator[Scope]:
        """This scope and all inside it."""
        yield self
        for state in self.states.values():
            for scope in state.scopes:
                yield from scope.all()

    def reachable(self) -> set[str]:
        """Names of the states that a way from the start leads to."""
        seen: set[str] = set()
        due = [self.start]
        while due:
            name = due.pop()
            if name in self.states and name not in seen:
                seen.add(name)
                due += [way.target for way in self.states[name].ways]
        return seen

    def assigned(self) -> set[str]:
        """Names that some state of this very scope assigns."""
        ways = (way for state in self.states.values() for way in state.ways)
        return {name for way in ways for name in way.assigns} | self._at_end()

    def _at_end(self) -> set[str]:
        return {name for state in self.states.values() for name in _names(state.body)}


_NESTED = {"Branches", "ItemProcessor", "Iterator"}


def read(definition: Object, place: str = "the machine", mode: str = "JSONPath") -> Scope:
    """Read a machine, or a part of one, as a scope."""
    mode = str(definition.get("QueryLanguage", mode))
    scope = Scope(place, str(definition.get("StartAt")))
    states = definition.get("States")
    for name, body in states.items() if isinstance(states, dict) else ():
        if isinstance(body, dict):
            scope.states[name] = _state(name, body, mode)
    return scope


def _state(name: str, body: Object, mode: str) -> State:
    mode = str(body.get("QueryLanguage", mode))
    inner = [*_objects(body.get("Branches"))]
    inner += [part for key in ("ItemProcessor", "Iterator") for part in _objects([body.get(key)])]
    scopes = (read(part, f"branch {number} of '{name}'", mode) for number, part in enumerate(inner))
    return State(name, body, mode == "JSONata", tuple(_ways(body)), tuple(scopes))


def _ways(body: Object) -> Iterator[Way]:
    for key in ("Next", "Default"):
        if key in body:
            yield Way(str(body[key]), _names(body))
    for key in ("Choices", "Catch"):
        for entry in _objects(body.get(key)):
            if "Next" in entry:
                yield Way(str(entry["Next"]), _names(entry))


def _names(entry: Mapping[str, Json]) -> frozenset[str]:
    assigned = entry.get("Assign")
    return frozenset(assigned) if isinstance(assigned, dict) else frozenset()


def _objects(value: Json) -> list[Object]:
    return [item for item in value if isinstance(item, dict)] if isinstance(value, list) else []


def _sources(value: Json) -> Iterator[str]:
    if isinstance(value, str):
        if value.startswith("{%") and value.endswith("%}"):
            yield value[2:-2]
    elif isinstance(value, dict):
        for item in value.values():
            yield from _sources(item)
    elif isinstance(value, list):
        for item in value:
            yield from _sources(item)
