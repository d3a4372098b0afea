"""A small, strict interpreter of compiled machines, made for exploring orders of events.

It hands control back wherever something else may happen first; a Lambda call happens as a whole.
It is not Step Functions: the local cloud on moto stands nearer to that, and is slower.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Generator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta

from stellwerk.kernel.clock import instant
from stellwerk.kernel.json import JsonObject, JsonValue
from tests.proof.language import (
    INVOKE_AND_WAIT,
    Catcher,
    Choice,
    Fail,
    Machine,
    Map,
    Parallel,
    Processor,
    Retrier,
    State,
    States,
    Task,
    Wait,
    _Leaving,
)
from tests.proof.queries import QueryFailed, resolve
from tests.proof.scheduler import Pause, Running, Scheduler, StateFailed, Thread, Tokens

UNCATCHABLE = {"States.DataLimitExceeded", "States.Runtime"}
Names = Mapping[str, JsonValue]
Invoke = Callable[[str, JsonObject], JsonValue]
"""Calls a Lambda by its function name; raises StateFailed with the error's class name."""


@dataclass
class Variables:
    """The variables of one scope; inner scopes read them and cannot assign them."""

    own: dict[str, JsonValue] = field(default_factory=dict)
    outer: Variables | None = None

    def visible(self) -> dict[str, JsonValue]:
        """Return all that can be read here."""
        return {**(self.outer.visible() if self.outer else {}), **self.own}


@dataclass
class Interpreter:
    """Runs one execution of a machine."""

    machine: Machine
    scheduler: Scheduler
    invoke: Invoke
    tokens: Tokens
    context: JsonObject

    def run(self, given: JsonValue) -> Running:
        """Run the whole machine on its input."""
        result = yield from self._scope(self.machine, Variables(), given, self.context)
        return result

    def _scope(
        self, scope: States | Processor, variables: Variables, given: JsonValue, context: JsonObject
    ) -> Running:
        name: str | None = scope.start_at
        while name is not None:
            yield Pause()
            now = instant(self.scheduler.now)
            here: JsonObject = {**context, "State": {"Name": name, "EnteredTime": now}}
            entered = _Entered(self, scope.states[name], variables, given, here)
            given, name = yield from entered.leave()
        return given


@dataclass
class _Entered:
    """A state that an execution is in."""

    interpreter: Interpreter
    state: State
    variables: Variables
    given: JsonValue
    context: JsonObject

    def leave(self) -> Generator[Pause, None, tuple[JsonValue, str | None]]:
        """Do what the state does; return its output and the next state."""
        tries: Counter[int] = Counter()
        while True:
            try:
                way, states = yield from self._work()
                return self._take(way, states)
            except QueryFailed as error:
                failure = StateFailed("States.QueryEvaluationError", str(error))
            except StateFailed as error:
                failure = error
            retrier = self._retrier(failure, tries)
            if retrier is None:
                return self._caught(failure)
            seconds = retrier.interval_seconds * retrier.backoff_rate ** (tries.total() - 1)
            yield Pause(until=self.interpreter.scheduler.now + timedelta(seconds=seconds))

    def _take(self, way: _Leaving, states: JsonObject) -> tuple[JsonValue, str | None]:
        names = self._names(**states)
        assigned = {name: resolve(value, names) for name, value in way.assign.items()}
        output = resolve(way.output, names)
        self.variables.own.update(assigned)
        return output, way.next

    def _names(self, **states: JsonValue) -> Names:
        known: JsonObject = {"input": self.given, "context": self.context, **states}
        return {**self.variables.visible(), "states": known}

    def _retrier(self, failure: StateFailed, tries: Counter[int]) -> Retrier | None:
        for index, retrier in enumerate(getattr(self.state, "retry", ())):
            if _matches(failure, retrier.error_equals):
                tries[index] += 1
                return retrier if tries[index] <= retrier.max_attempts else None
        return None

    def _caught(self, failure: StateFailed) -> tuple[JsonValue, str | None]:
        catchers: tuple[Catcher, ...] = getattr(self.state, "catch", ())
        for catcher in catchers:
            if _matches(failure, catcher.error_equals):
                error: JsonObject = {"Error": failure.error, "Cause": failure.cause}
                try:
                    return self._take(catcher, {"errorOutput": error})
                except QueryFailed as wrong:
                    raise StateFailed("States.QueryEvaluationError", str(wrong)) from wrong
        raise failure

    def _work(self) -> Generator[Pause, None, tuple[_Leaving, JsonObject]]:
        state = self.state
        if isinstance(state, Fail):
            raise StateFailed(str(resolve(state.error, self._names())), self._text(state.cause))
        if isinstance(state, Choice):
            return self._chosen(state), {}
        if isinstance(state, Wait):
            yield Pause(until=self._moment(state))
        if isinstance(state, Task):
            return state, {"result": (yield from self._task(state))}
        if isinstance(state, Parallel):
            return state, {"result": (yield from self._parallel(state))}
        if isinstance(state, Map):
            return state, {"result": (yield from self._map(state))}
        return state, {}

    def _text(self, template: str) -> str:
        return str(resolve(template, self._names()))

    def _chosen(self, state: Choice) -> _Leaving:
        names = self._names()
        for rule in state.choices:
            holds = resolve(rule.condition, names)
            if not isinstance(holds, bool):
                raise QueryFailed(f"not a boolean: {rule.condition}")
            if holds:
                return rule
        if state.default is None:
            raise StateFailed("States.NoChoiceMatched")
        return state.model_copy(update={"next": state.default})

    def _moment(self, state: Wait) -> datetime:
        if state.timestamp is not None:
            return datetime.fromisoformat(self._text(state.timestamp))
        return self.interpreter.scheduler.now + timedelta(seconds=self._number(state.seconds, 0))

    def _number(self, template: JsonValue, least: int) -> int:
        number = resolve(template, self._names())
        if isinstance(number, bool) or not isinstance(number, int) or number < least:
            raise QueryFailed(f"not a whole number from {least}: {template!r} gives {number!r}")
        return number

    def _task(self, state: Task) -> Running:
        tokens, token = self.interpreter.tokens, ""
        if state.resource == INVOKE_AND_WAIT:
            token = tokens.open()
            self.context = {**self.context, "Task": {"Token": token}}
        until = self._deadline(state)
        result = self._call(resolve(state.arguments, self._names()))
        if not token:
            return {"Payload": result, "StatusCode": 200, "ExecutedVersion": "$LATEST"}
        yield Pause(ready=lambda: tokens.answers[token] is not None, until=until)
        answer = tokens.answers.pop(token)
        if answer is None:
            raise StateFailed("States.Timeout")
        return answer()

    def _call(self, arguments: JsonValue) -> JsonValue:
        if not isinstance(arguments, dict) or set(arguments) != {"FunctionName", "Payload"}:
            raise StateFailed("States.Runtime", f"wrong arguments of lambda:invoke: {arguments}")
        payload = arguments["Payload"]
        if not isinstance(payload, dict):
            raise StateFailed("States.Runtime", "the payload is no object")
        return self.interpreter.invoke(str(arguments["FunctionName"]), payload)

    def _deadline(self, state: Task) -> datetime | None:
        if state.timeout_seconds is None:
            return None
        seconds = self._number(state.timeout_seconds, 1)
        return self.interpreter.scheduler.now + timedelta(seconds=seconds)

    def _parallel(self, state: Parallel) -> Running:
        given = resolve(state.arguments, self._names())
        scheduler = self.interpreter.scheduler
        threads = [scheduler.spawn(self._inside(branch, given)) for branch in state.branches]
        try:
            yield Pause(ready=lambda: _settled(threads))
            return _results(threads)
        finally:
            scheduler.kill(threads)

    def _inside(
        self, scope: States | Processor, given: JsonValue, context: JsonObject | None = None
    ) -> Running:
        variables = Variables(outer=self.variables)
        return self.interpreter._scope(scope, variables, given, context or self.context)

    def _map(self, state: Map) -> Running:
        items = resolve(
            state.items if isinstance(state.items, str) else [*state.items], self._names()
        )
        if not isinstance(items, list):
            raise QueryFailed(f"not an array: {state.items!r}")
        width = self._number(state.max_concurrency, 0) or 40
        scheduler = self.interpreter.scheduler
        threads: list[Thread] = []
        try:
            for index, item in enumerate(items):
                place: JsonObject = {"Item": {"Index": index, "Value": item}}
                context: JsonObject = {**self.context, "Map": place}
                given = self._selected(state, item, context)
                threads.append(scheduler.spawn(self._inside(state.item_processor, given, context)))
                yield Pause(ready=lambda: _free(threads, width))
                _failed(threads)
            yield Pause(ready=lambda: _settled(threads))
            return _results(threads)
        finally:
            scheduler.kill(threads)

    def _selected(self, state: Map, item: JsonValue, context: JsonObject) -> JsonValue:
        if state.item_selector is None:
            return item
        return resolve(state.item_selector, self._names(context=context))


def _settled(threads: Sequence[Thread]) -> bool:
    return all(thread.over for thread in threads) or any(thread.failure for thread in threads)


def _free(threads: Sequence[Thread], width: int) -> bool:
    working = sum(not thread.over for thread in threads)
    return working < width or any(thread.failure for thread in threads)


def _failed(threads: Sequence[Thread]) -> None:
    """Raise the failure of a thread that has failed."""
    for thread in threads:
        if thread.failure:
            raise StateFailed(thread.failure.error, thread.failure.cause) from thread.failure


def _results(threads: Sequence[Thread]) -> JsonValue:
    _failed(threads)
    return [thread.result for thread in threads]


def _matches(failure: StateFailed, names: Sequence[str]) -> bool:
    if failure.error in names:
        return True
    if "States.TaskFailed" in names and not failure.error.startswith("States."):
        return True
    return "States.ALL" in names and failure.error not in UNCATCHABLE
