"""Last pass: states become the text of a definition in Amazon States Language, JSONata mode.

The order of keys is fixed, so the same graph gives the same bytes.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import assert_never

from stellwerk.kernel.json import JsonObject, JsonValue, dumps
from stellwerk.workflows.compile.ir import (
    Again,
    Catch,
    Choice,
    Fail,
    Map,
    Parallel,
    State,
    Task,
    Wait,
)
from stellwerk.workflows.compile.scopes import Names, Scope, lifted
from stellwerk.workflows.graph import OUT_PORT

INVOKE = "arn:aws:states:::lambda:invoke"
NOTHING: JsonObject = {}
"""What a scope hands out that nobody reads.

small, so that no fork can outgrow the limit of state.
"""


def definition(scope: Scope, *, prefix: str, comment: str) -> str:
    """Return the text of a machine's definition. `prefix` begins the names of its Lambdas."""
    machine: JsonObject = {"Comment": comment, "QueryLanguage": "JSONata"}
    return dumps(machine | Writer(prefix, scope.names).scope(scope))


class Writer:
    """Writes the states of one machine."""

    def __init__(self, prefix: str, names: Names) -> None:
        self._prefix = prefix
        self._names = names

    def scope(self, scope: Scope) -> JsonObject:
        """Return `StartAt` and `States` of a scope."""
        states: JsonObject = {}
        last = self._last(scope)
        start = scope.start or last
        opening = self.opening(scope)
        if opening:
            start = scope.names.state(": start")
            states[start] = _leaving({"Type": "Pass", "Assign": opening}, scope.start or last, last)
        for state in scope.states:
            states[state.name] = self._state(state, last)
        if last is not None:
            states[last] = {"Type": "Pass", "Output": _handed_out(scope), "End": True}
        return {"StartAt": start, "States": states}

    @staticmethod
    def opening(scope: Scope) -> JsonObject:
        """Return what a scope's first state assigns."""
        return {**scope.entry, **dict.fromkeys(scope.unset())}

    @staticmethod
    def _last(scope: Scope) -> str | None:
        """The state that ends the scope, where its states cannot end it themselves."""
        chosen = any(
            isinstance(state, Choice) and None in (state.default, *(to for _, to in state.rules))
            for state in scope.states
        )
        if scope.exports or chosen or scope.start is None:
            return scope.names.state(": end")
        return None

    def _state(self, state: State, last: str | None) -> JsonObject:
        match state:
            case Task():
                return self._task(state, last)
            case Choice():
                return _choice(state, last)
            case Parallel():
                return self._parallel(state, last)
            case Map():
                return self._map(state, last)
            case Wait():
                return _leaving({"Type": "Wait", "Timestamp": state.until}, state.next, last)
            case Fail():
                return {"Type": "Fail", "Error": state.error, "Cause": state.cause}
            case _:
                assert_never(state)

    def _task(self, task: Task, last: str | None) -> JsonObject:
        body: JsonObject = {
            "Type": "Task",
            "Resource": INVOKE + (".waitForTaskToken" if task.token else ""),
            "Arguments": {
                "FunctionName": f"{self._prefix}-{task.function}",
                "Payload": _payload(task.payload),
            },
        }
        if task.timeout is not None:
            body["TimeoutSeconds"] = task.timeout
        body["Retry"] = [_again(again) for again in task.again]
        if task.catch:
            body["Catch"] = self._catches(task.catch)
        assign = self._assignments(task)
        if assign:
            body["Assign"] = assign
        if task.output is not None:
            body["Output"] = task.output
        return _leaving(body, task.next, last)

    def _assignments(self, task: Task) -> JsonObject:
        assign: JsonObject = dict(task.assign)
        if task.fires is not None and task.fires in self._names.asked:
            assign[lifted(task.fires, 0)] = "{% $states.result.Payload.port %}"
        if task.resets is not None:
            assign |= self.opening(task.resets)
        return assign

    def _parallel(self, parallel: Parallel, last: str | None) -> JsonObject:
        branches: list[JsonValue] = [self.scope(branch) for branch in parallel.branches]
        body: JsonObject = {"Type": "Parallel", "Branches": branches}
        assign: JsonObject = {
            lifted(key, height + 1): f"{{% $states.result[{number}].{key} %}}"
            for number, branch in enumerate(parallel.branches)
            for key, height in sorted(branch.exports.items())
        }
        if parallel.fires in self._names.asked:
            assign[lifted(parallel.fires, 0)] = OUT_PORT
        if assign:
            body["Assign"] = assign
        body["Catch"] = self._catches(parallel.catch)
        return _leaving(body, parallel.next, last)

    def _map(self, state: Map, last: str | None) -> JsonObject:
        processor: JsonObject = {"ProcessorConfig": {"Mode": "INLINE"}}
        body: JsonObject = {
            "Type": "Map",
            "Items": state.items,
            "MaxConcurrency": state.concurrency,
            "ItemProcessor": processor | self.scope(state.body),
            "Output": NOTHING,
        }
        if state.catch:
            body["Catch"] = self._catches(state.catch)
        return _leaving(body, state.next, last)

    def _catches(self, catches: tuple[Catch, ...]) -> list[JsonValue]:
        return [self._catch(catch) for catch in catches]

    def _catch(self, catch: Catch) -> JsonObject:
        body: JsonObject = {"ErrorEquals": list(catch.errors)}
        if catch.handled is not None:
            if catch.handled.step in self._names.shared:
                body["Assign"] = {lifted(catch.handled.step, 0): catch.handled.port}
            body["Output"] = {"node": catch.handled.step, "error": "{% $states.errorOutput %}"}
        return {**body, "Next": catch.next}


def _payload(values: Mapping[str, JsonValue]) -> JsonObject:
    """Return a payload that asl-validator accepts.

    It refuses empty text, so the path of the top is left out, which is the default; and numbers
    other than as expressions.
    """
    return {
        name: f"{{% {value} %}}" if isinstance(value, int) else value
        for name, value in values.items()
        if value != ""
    }


def _leaving(body: JsonObject, after: str | None, last: str | None) -> JsonObject:
    target = after or last
    if target is not None:
        return {**body, "Next": target}
    return {**body, "Output": NOTHING, "End": True}


def _choice(choice: Choice, last: str | None) -> JsonObject:
    rules: list[JsonValue] = [
        {"Condition": f"{{% {condition} %}}", "Next": target or last}
        for condition, target in choice.rules
    ]
    return {"Type": "Choice", "Choices": rules, "Default": choice.default or last}


def _again(again: Again) -> JsonObject:
    rule: JsonObject = {"ErrorEquals": list(again.errors)}
    if again.interval != 1:
        rule["IntervalSeconds"] = round(again.interval)
    rule["MaxAttempts"] = again.attempts
    if again.backoff != 2:
        rule["BackoffRate"] = again.backoff
    return rule


def _handed_out(scope: Scope) -> JsonValue:
    """The ports that a branch hands out, by step."""
    if not scope.exports:
        return NOTHING
    exports: JsonObject = {
        key: f"{{% ${lifted(key, height)} %}}" for key, height in sorted(scope.exports.items())
    }
    return exports
