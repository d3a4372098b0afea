"""The subset of the States Language that the compiler emits, read strictly: all else is refused.

Besides the shape it checks what AWS refuses and lenient interpreters let through: targets that do
not exist, names that are too long or not unique, a variable assigned in a scope and around it.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field

from stellwerk.kernel.json import JsonObject, JsonValue

Expression = Annotated[str, Field(pattern=r"(?s)^\{%.*%\}$")]
INVOKE = "arn:aws:states:::lambda:invoke"
INVOKE_AND_WAIT = f"{INVOKE}.waitForTaskToken"
NAME_LIMIT = 80
SIZE_LIMIT = 1_000_000


class Refused(Exception):
    """AWS would not create this machine."""


class _Model(BaseModel):
    model_config = ConfigDict(
        frozen=True, extra="forbid", alias_generator=lambda name: name.title().replace("_", "")
    )


class _Leaving(_Model):
    """What a state, a rule or a catcher does on the way to what is next."""

    next: str | None = None
    assign: JsonObject = Field(default_factory=dict)
    output: JsonValue = "{% $states.input %}"


class Retrier(_Model):
    """After which errors to try again."""

    error_equals: tuple[str, ...]
    interval_seconds: int = 1
    max_attempts: int = 3
    backoff_rate: float = 2
    max_delay_seconds: int | None = None
    jitter_strategy: Literal["FULL", "NONE"] = "NONE"


class Catcher(_Leaving):
    """Where to go after which errors."""

    error_equals: tuple[str, ...]
    output: JsonValue = "{% $states.errorOutput %}"


class _State(_Leaving):
    comment: str = ""
    end: bool = False


class _Working(_State):
    arguments: JsonValue = "{% $states.input %}"
    retry: tuple[Retrier, ...] = ()
    catch: tuple[Catcher, ...] = ()
    output: JsonValue = "{% $states.result %}"


class Task(_Working):
    """Calls a Lambda; with a token, waits until somebody answers it."""

    type: Literal["Task"]
    resource: Literal[
        "arn:aws:states:::lambda:invoke", "arn:aws:states:::lambda:invoke.waitForTaskToken"
    ]
    timeout_seconds: int | Expression | None = None


class Parallel(_Working):
    """Runs branches side by side."""

    type: Literal["Parallel"]
    branches: tuple[States, ...] = Field(min_length=1)


class Processor(_Model):
    """The body of a Map."""

    processor_config: dict[Literal["Mode"], Literal["INLINE"]] = Field(default_factory=dict)
    start_at: str
    states: dict[str, State]


class Map(_Working):
    """Runs its processor once per item."""

    type: Literal["Map"]
    items: Expression | tuple[JsonValue, ...]
    item_selector: JsonValue = None
    item_processor: Processor
    max_concurrency: int | Expression = 0


class Rule(_Leaving):
    """A way out of a Choice."""

    condition: Expression


class Choice(_State):
    """Goes on by the first rule that holds."""

    type: Literal["Choice"]
    choices: tuple[Rule, ...] = Field(min_length=1)
    default: str | None = None


class Pass(_State):
    """Assigns and goes on."""

    type: Literal["Pass"]


class Wait(_State):
    """Lets time pass."""

    type: Literal["Wait"]
    seconds: int | Expression | None = None
    timestamp: str | None = None


class Succeed(_State):
    """Ends its scope well."""

    type: Literal["Succeed"]


class Fail(_Model):
    """Ends its scope with an error."""

    type: Literal["Fail"]
    comment: str = ""
    error: str
    cause: str = ""


State = Annotated[
    Task | Parallel | Map | Choice | Pass | Wait | Succeed | Fail, Field(discriminator="type")
]


class States(_Model):
    """A sequence of states: a branch."""

    comment: str = ""
    start_at: str
    states: dict[str, State]


class Machine(States):
    """A whole definition."""

    query_language: Literal["JSONata"]
    timeout_seconds: int | None = None


Scope = States | Processor


def read(definition: str) -> Machine:
    """Return the machine; raise Refused where AWS would."""
    if len(definition.encode()) > SIZE_LIMIT:
        raise Refused(f"the definition has {len(definition.encode())} bytes")
    machine = Machine.model_validate_json(definition)
    _check_names(machine)
    _check_scope(machine, frozenset())
    return machine


def assigned(scope: Scope) -> frozenset[str]:
    """Return the variables that states of this very scope assign."""
    names: set[str] = set()
    for state in scope.states.values():
        if isinstance(state, Fail):
            continue
        names.update(state.assign)
        ways = state.choices if isinstance(state, Choice) else getattr(state, "catch", ())
        names.update(name for way in ways for name in way.assign)
    return frozenset(names)


def inner(state: State) -> tuple[Scope, ...]:
    """Return the scopes inside a state."""
    if isinstance(state, Parallel):
        return state.branches
    return (state.item_processor,) if isinstance(state, Map) else ()


def _all_states(scope: Scope) -> Iterator[tuple[str, State]]:
    for name, state in scope.states.items():
        yield name, state
        for body in inner(state):
            yield from _all_states(body)


def _check_names(machine: Machine) -> None:
    seen: set[str] = set()
    for name, _ in _all_states(machine):
        if len(name) > NAME_LIMIT or name in seen:
            raise Refused(f"the state name {name!r} is too long or not unique")
        seen.add(name)


def _check_scope(scope: Scope, around: frozenset[str]) -> None:
    own = assigned(scope)
    if own & around:
        raise Refused(f"assigned in a scope and around it: {sorted(own & around)}")
    reached = {scope.start_at}
    for name, state in scope.states.items():
        for target in _targets(name, state):
            reached.add(target)
        for body in inner(state):
            _check_scope(body, around | own)
    if reached != set(scope.states):
        raise Refused(f"unknown or unreachable: {sorted(reached ^ set(scope.states))}")


def _targets(name: str, state: State) -> Iterator[str]:
    """Yield where a state can go; raise Refused if it can neither go on nor end."""
    if isinstance(state, Succeed | Fail):
        return
    if isinstance(state, Choice):
        ways: tuple[_Leaving, ...] = state.choices
        if state.default:
            yield state.default
    else:
        if (state.next is None) is not state.end:
            raise Refused(f"state {name!r} needs either Next or End")
        ways = (*([] if state.end else [state]), *getattr(state, "catch", ()))
    for way in ways:
        if way.next is None:
            raise Refused(f"a rule of state {name!r} has no Next")
        yield way.next
