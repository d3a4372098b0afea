"""Checks of a definition that AWS makes when a machine is created, and moto does not.

`shape` reads the JSON into scopes and transitions, `variables_of` follows assignments along them.
All faults are said at once, each with the place where it is.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator

from localcloud.stepfunctions.assignments import variable_faults
from localcloud.stepfunctions.errors import InvalidDefinition
from localcloud.stepfunctions.refusals import NAME
from localcloud.stepfunctions.shape import Scope, State, read

_GO_ON = {"Task", "Pass", "Wait", "Parallel", "Map"}
_PATH_FIELDS = {
    "InputPath",
    "OutputPath",
    "ResultPath",
    "Parameters",
    "ResultSelector",
    "ItemsPath",
    "SecondsPath",
    "TimestampPath",
    "TimeoutSecondsPath",
    "ErrorPath",
    "CausePath",
}
_POSITIVE = ("TimeoutSeconds", "HeartbeatSeconds")
_SHOWN = 20
"""How many faults a refusal spells out."""


def check_definition(text: str) -> None:
    """Raise InvalidDefinition, with its faults, for what AWS would refuse."""
    try:
        definition = json.loads(text)
    except ValueError as error:
        raise InvalidDefinition(f"Invalid State Machine Definition: not JSON: {error}") from error
    if not isinstance(definition, dict):
        raise InvalidDefinition("Invalid State Machine Definition: no JSON object")
    faults = list(_faults(read(definition)))
    if faults:
        more = f" and {len(faults) - _SHOWN} more" if len(faults) > _SHOWN else ""
        raise InvalidDefinition(
            f"Invalid State Machine Definition: {'; '.join(faults[:_SHOWN])}{more}"
        )


def _faults(machine: Scope) -> Iterator[str]:
    scopes = list(machine.all())
    names = Counter(state.name for scope in scopes for state in scope.states.values())
    for name, count in names.items():
        if count > 1:
            yield f"DUPLICATE_STATE_NAME: {count} states are called '{name}'"
        if len(name) > NAME:
            yield f"STATE_NAME_TOO_LONG: '{name}' has {len(name)} characters, {NAME} are allowed"
    for scope in scopes:
        yield from _targets(scope)
        for state in scope.states.values():
            yield from _state(state)
    yield from variable_faults(machine)


def _targets(scope: Scope) -> Iterator[str]:
    if scope.start not in scope.states:
        yield f"MISSING_TRANSITION_TARGET: StartAt names '{scope.start}' at {scope.place}"
    for state in scope.states.values():
        for way in state.ways:
            if way.target not in scope.states:
                yield (
                    f"MISSING_TRANSITION_TARGET: '{way.target}' is no state beside '{state.name}'"
                )
    for name in scope.states.keys() - scope.reachable():
        yield f"MISSING_TRANSITION_TARGET: State '{name}' is not reachable at {scope.place}"


def _state(state: State) -> Iterator[str]:
    if state.kind in _GO_ON and ("Next" in state.body) == ("End" in state.body):
        yield f"SCHEMA_VALIDATION_FAILED: '{state.name}' needs either Next or End"
    for field in state.path_fields(_PATH_FIELDS):
        yield f"SCHEMA_VALIDATION_FAILED: '{state.name}' uses {field} in JSONata mode"
    for field in _POSITIVE:
        seconds = state.body.get(field)
        if isinstance(seconds, int) and not 0 < seconds <= 99_999_999:
            yield f"SCHEMA_VALIDATION_FAILED: {field} of '{state.name}' is {seconds}"
    yield from _error_names(state)


def _error_names(state: State) -> Iterator[str]:
    for field in ("Retry", "Catch"):
        entries = state.objects(field)
        for number, entry in enumerate(entries, start=1):
            names = entry.get("ErrorEquals")
            if not isinstance(names, list) or not names:
                yield f"SCHEMA_VALIDATION_FAILED: {field} of '{state.name}' lacks ErrorEquals"
            elif "States.ALL" in names and (len(names) > 1 or number < len(entries)):
                yield (
                    f"SCHEMA_VALIDATION_FAILED: States.ALL must stand alone and last in {field} "
                    f"of '{state.name}'"
                )
