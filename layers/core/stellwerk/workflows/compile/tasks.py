"""Third pass, second half: the states of a single step, one form per kind of node."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import assert_never

from stellwerk.catalogue.model import PLATFORM_TRIES, Kind
from stellwerk.kernel.errors import RETRYABLE
from stellwerk.kernel.ids import NodeKey
from stellwerk.kernel.json import JsonValue
from stellwerk.workflows.compile.ir import (
    EVERY_ERROR,
    Again,
    Catch,
    Choice,
    Fail,
    Failed,
    Task,
    Wait,
    quoted,
)
from stellwerk.workflows.compile.normalise import Step
from stellwerk.workflows.compile.refusals import NotFixed
from stellwerk.workflows.compile.scopes import Scope
from stellwerk.workflows.compile.tracks import Exits, Track
from stellwerk.workflows.graph import ERROR_PORT, OnError, Retry

GRACE = 15
"""Seconds that a state gives a Lambda beyond the node's own timeout, which the wrapper enforces."""

PLATFORM = Again(
    (
        "StillRunning",
        "Lambda.ServiceException",
        "Lambda.AWSLambdaException",
        "Lambda.SdkClientException",
        "Lambda.TooManyRequestsException",
    ),
    attempts=PLATFORM_TRIES - 1,
)
"""What may go wrong before a Lambda has acted: the journal makes a further call harmless.

The pauses add up to 127 s; for a longer timeout, to more than a lease can last.
"""

SYSTEM = replace(PLATFORM, errors=tuple(dict.fromkeys((*PLATFORM.errors, *sorted(RETRYABLE)))))
"""The same for our own Lambdas, which may all be called again."""

RUN = "{% $run %}"
INPUT = "{% $states.input %}"


def answer(name: str) -> str:
    """Return JSONata for a field of the Lambda's answer."""
    return f"{{% $states.result.Payload.{name} %}}"


@dataclass(frozen=True)
class Caught:
    """The steps of a track whose failures one state, called `name`, journals.

    `after` says where each goes on.
    """

    name: str
    after: dict[NodeKey, str | None] = field(default_factory=dict)


@dataclass
class Emitter:
    """Emits steps; `loops` emits the two containers, which need plans of their own levels."""

    loops: Callable[[Emitter, Track, Step, int, str, Exits], None]
    _closing: dict[tuple[int, NodeKey | None], str] = field(default_factory=dict)
    _failed: dict[int, str] = field(default_factory=dict)
    _unknown: dict[int, str] = field(default_factory=dict)
    _caught: dict[Track, Caught] = field(default_factory=dict)

    def step(self, track: Track, number: int, name: str, exits: Exits) -> None:
        """Add the states of step `number`, the first of them called `name`."""
        step = track.live.level.steps[number]
        match step.kind:
            case Kind.TRIGGER | Kind.STEP | Kind.STOP:
                self.call(track, step, name, exits)
            case Kind.DELAY:
                self._delay(track, step, name, exits)
            case Kind.WAIT:
                self._wait(track, step, name, exits)
            case Kind.FOR_EACH | Kind.WHILE:
                self.loops(self, track, step, number, name, exits)
            case _:
                assert_never(step.kind)

    def closing(self, track: Track, loop: NodeKey | None = None) -> str:
        """Return the state that closes what is dead after an error, and fails with the error.

        That is all of the track's level, or only the passes of `loop`, beside which others live.
        """
        scope = track.scope
        known = self._closing.get((id(scope), loop))
        if known is not None:
            return known
        wish = f"{loop} ! scope closed" if loop else "! scope closed"
        name = self._closing[id(scope), loop] = scope.names.state(wish)
        payload: dict[str, JsonValue] = {"run": RUN, "path": track.level.path, "error": INPUT}
        if loop is not None:
            payload["loop"] = loop
        failed = self._rethrowing(scope)
        scope.add(Task(name, "system-scope_closed", payload, failed, again=(SYSTEM,), output=INPUT))
        return name

    def _rethrowing(self, scope: Scope) -> str:
        """The state of a scope that fails with the error that it is given."""
        known = self._failed.get(id(scope))
        if known is None:
            known = self._failed[id(scope)] = scope.names.state("! failed")
            scope.add(rethrow(known))
        return known

    def gate(self, track: Track, name: str, key: NodeKey, after: str, *, token: bool) -> None:
        """Add a state that waits for, or reads, whether the join of `key` is alive."""
        payload = {"run": RUN, "path": track.level.path, "node": key}
        if token:
            payload["token"] = "{% $states.context.Task.Token %}"
        output = None if token else answer("port")
        track.scope.add(
            Task(name, "system-gate", payload, after, token=token, again=(SYSTEM,), output=output)
        )

    def call(
        self,
        track: Track,
        step: Step,
        name: str,
        exits: Exits,
        more: Mapping[str, JsonValue] | None = None,
    ) -> None:
        """Add the one call that fires the step's port."""
        after = self.leave(track, step, exits)
        catch = self.failing(track, step, exits)
        self.task(track, step, name, after, more=more, catch=catch, fires=step.key)

    def task(
        self,
        track: Track,
        step: Step,
        name: str,
        after: str | None,
        *,
        more: Mapping[str, JsonValue] | None = None,
        catch: tuple[Catch, ...] = (),
        fires: NodeKey | None = None,
        output: str | None = None,
        token: bool = False,
        timeout: str | None = None,
        assign: Mapping[str, JsonValue] | None = None,
        resets: Scope | None = None,
    ) -> None:
        """Add a call of the step's Lambda with `more` in its payload."""
        payload: dict[str, JsonValue] = {"run": RUN, "path": track.level.path, "node": step.key}
        payload.update(more or {})
        if token:
            payload["token"] = "{% $states.context.Task.Token %}"
        track.scope.add(
            Task(
                name=name,
                function=step.function,
                payload=payload,
                next=after,
                fires=fires,
                token=token,
                timeout=timeout or (None if token else step.timeout + GRACE),
                again=retries(step),
                catch=catch,
                assign=assign or {},
                output=output,
                resets=resets,
            )
        )

    def leave(self, track: Track, step: Step, exits: Exits) -> str | None:
        """Return where to go when the step has fired a port: one state, or a Choice of the port."""
        ports = [port for port in step.fires if not _only_after_failure(step, port)] or [""]
        targets = {port: exits(port) for port in ports}
        if len(set(targets.values())) == 1:
            return targets[ports[0]]
        scope = track.scope
        variable = scope.own(step.key)
        name = scope.names.state(f"{step.key} ? port")
        rules = tuple((f"${variable} = {quoted(port)}", target) for port, target in targets.items())
        scope.add(Choice(name, rules, self._unknown_port(scope)))
        return name

    def _unknown_port(self, scope: Scope) -> str:
        """The state of a scope that fails where a step fires a port which its version lacks."""
        known = self._unknown.get(id(scope.states))
        if known is None:
            known = self._unknown[id(scope.states)] = scope.names.state("! unknown port")
            scope.add(Fail(known, "UnknownPort", "A node fired a port that its version lacks."))
        return known

    def failing(self, track: Track, step: Step, exits: Exits) -> tuple[Catch, ...]:
        """Return what catches the step's failure where its `on_error` goes on."""
        port = step.failure_port
        if port is None:
            return ()
        caught = self._caught.get(track)
        if caught is None:
            loop = track.live.level.loop
            wish = f"{loop} ! node failed" if loop else "! node failed"
            caught = self._caught[track] = Caught(track.scope.names.state(wish))
        caught.after[step.key] = exits(port)
        return (Catch((EVERY_ERROR,), caught.name, Failed(step.key, port)),)

    def failures(self, track: Track) -> None:
        """Add the one state that journals failures of the track's steps, and where they go on."""
        caught = self._caught.pop(track, None)
        if caught is None:
            return
        payload: dict[str, JsonValue] = {"run": RUN, "path": track.level.path}
        payload |= {name: f"{{% $states.input.{name} %}}" for name in ("node", "error")}
        after = self._after_failure(track, caught)
        task = Task(
            caught.name,
            "system-node_failed",
            payload,
            after,
            output="{% $states.input.node %}",
            again=(SYSTEM,),
            uses=len(caught.after),
        )
        track.scope.add(task)

    def _after_failure(self, track: Track, caught: Caught) -> str | None:
        """Where handled failures go on: in one place, or by a Choice of the node."""
        ((usual, _),) = Counter(caught.after.values()).most_common(1)
        others = {key: state for key, state in caught.after.items() if state != usual}
        if not others:
            return usual
        scope = track.scope
        name = scope.names.state(caught.name.replace("!", "?"))
        rules = tuple((f"$states.input = {quoted(key)}", state) for key, state in others.items())
        scope.add(Choice(name, rules, usual, uses=len(caught.after)))
        return name

    def _delay(self, track: Track, step: Step, name: str, exits: Exits) -> None:
        catch = self.failing(track, step, exits)
        wait = track.scope.names.state(f"{step.key} : wait")
        done = track.scope.names.state(f"{step.key} : over")
        self.task(
            track, step, name, wait, more={"phase": "open"}, catch=catch, output=answer("until")
        )
        track.scope.add(Wait(wait, INPUT, done))
        after = self.leave(track, step, exits)
        self.task(track, step, done, after, more={"phase": "close"}, catch=catch, fires=step.key)

    def _wait(self, track: Track, step: Step, name: str, exits: Exits) -> None:
        catch = self.failing(track, step, exits)
        wait = track.scope.names.state(f"{step.key} : wait")
        done = track.scope.names.state(f"{step.key} : outcome")
        self.task(
            track, step, name, wait, more={"phase": "open"}, catch=catch, output=answer("seconds")
        )
        over = Catch(("States.Timeout",), done)
        self.task(
            track,
            step,
            wait,
            done,
            more={"phase": "wait"},
            catch=(over, *catch),
            token=True,
            timeout=INPUT,
        )
        after = self.leave(track, step, exits)
        self.task(track, step, done, after, more={"phase": "close"}, catch=catch, fires=step.key)


def retries(step: Step) -> tuple[Again, ...]:
    """Return after which errors a step is called again."""
    declared = tuple(name for name in step.retried if name not in PLATFORM.errors)
    patience = (step.timeout + GRACE).bit_length()
    platform = replace(PLATFORM, attempts=max(PLATFORM.attempts, patience))
    if not declared or step.retry.attempts == 1:
        return (platform,)
    retry = step.retry
    if retry == Retry(attempts=PLATFORM_TRIES):
        return (replace(platform, errors=(*platform.errors, *declared)),)
    return (platform, Again(declared, retry.attempts - 1, retry.interval, retry.backoff))


def rethrow(name: str) -> Fail:
    """Return a state that fails with the error that it was given as input."""
    return Fail(name, "{% $states.input.Error %}", "{% $states.input.Cause %}")


def number_of(step: Step, parameter: str, default: int) -> int:
    """Return a whole number that must be known when the machine is built.

    Raises NotFixed where the parameter is an expression or not a number.
    """
    value = step.parameters.get(parameter, default)
    if isinstance(value, bool) or not isinstance(value, int):
        raise NotFixed(step.key, parameter)
    return value


def _only_after_failure(step: Step, port: str) -> bool:
    return step.on_error is OnError.BRANCH and port == ERROR_PORT
