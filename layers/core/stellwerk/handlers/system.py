"""The edge of the system's own Lambdas: an event becomes a model, then run services act."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Generic, TypeVar

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from stellwerk.bootstrap import services
from stellwerk.handlers.session import LambdaContext
from stellwerk.kernel.errors import BadInput
from stellwerk.kernel.ids import ROOT, NodeKey, Path
from stellwerk.kernel.json import JsonObject, JsonValue
from stellwerk.runs.assembly import Assembly
from stellwerk.runs.calls import RunRef
from stellwerk.runs.causes import from_execution
from stellwerk.runs.finishing import Ended
from stellwerk.runs.model import Failure, StepKey
from stellwerk.runs.names import ExecutionName, read_execution_name


class Event(BaseModel):
    """Base of the events of system Lambdas; what they do not name is ignored."""

    model_config = ConfigDict(frozen=True, extra="ignore")


class CaughtError(Event):
    """An error as a Catch hands it over."""

    error: str = Field(default="", alias="Error")
    cause: str = Field(default="", alias="Cause")


class PlaceEvent(Event):
    """An event of one run, at a place in it."""

    run: RunRef
    path: Path = ROOT
    node: NodeKey | None = None
    loop: NodeKey | None = None
    error: CaughtError = CaughtError()

    @property
    def failure(self) -> Failure:
        """The error that was caught, as the journal keeps it."""
        return from_execution(self.error.error, self.error.cause, node=self.node, path=self.path)


class NodeEvent(PlaceEvent):
    """An event of one node; `token` is there where the state waits for an answer."""

    node: NodeKey
    token: str = ""


class ChunkEvent(Event):
    """An event of a loop's chunk: its execution's input, or what its last state hands over."""

    run: RunRef
    path: Path = ROOT
    node: NodeKey = NodeKey("")
    chunk: int = 0

    @property
    def loop(self) -> StepKey:
        """Which loop's chunk it is."""
        return StepKey(path=self.path, node=self.node)


class SweepEvent(Event):
    """The schedule's event. `limit`: how many repairs to make at most."""

    limit: int = 1000


class ExecutionDetail(Event):
    """What EventBridge tells of an execution."""

    name: str
    status: str
    input: str | None = None
    error: str | None = None
    cause: str | None = None


class ExecutionEvent(Event):
    """EventBridge's `Step Functions Execution Status Change`."""

    detail: ExecutionDetail

    @property
    def over(self) -> bool:
        """Whether the execution has ended."""
        return self.detail.status != "RUNNING"

    @property
    def name(self) -> ExecutionName | None:
        """What the execution's name says; None if it is not one of ours."""
        return read_execution_name(self.detail.name)

    @property
    def data(self) -> ChunkEvent | None:
        """The execution's input; None if it is not one of ours."""
        try:
            return ChunkEvent.model_validate_json(self.detail.input or "")
        except ValidationError:
            return None

    @property
    def ended(self) -> Ended:
        """How it ended."""
        detail = self.detail
        return Ended(detail.status, detail.error or "", detail.cause or "")


E = TypeVar("E", bound=Event)


@dataclass(frozen=True)
class Occasion:
    """One invocation: its id, and the `seconds` after which AWS would end it."""

    request: str
    seconds: float

    @classmethod
    def of(cls, context: LambdaContext) -> Occasion:
        """Return the invocation that Lambda's context describes."""
        return cls(context.aws_request_id, context.get_remaining_time_in_millis() / 1000)


def read(model: type[E], event: JsonValue) -> E:
    """Return an event as `model`; raise BadInput that names all that is odd."""
    try:
        return model.model_validate(event)
    except ValidationError as error:
        faults = "; ".join(
            f"{'.'.join(map(str, fault['loc']))}: {fault['msg']}" for fault in error.errors()
        )
        raise BadInput(f"The event cannot be read: {faults}") from error


@dataclass(frozen=True)
class SystemHandler(Generic[E]):
    """A Lambda's entry point: `act` gets the event as `model`, the services, and the occasion."""

    model: type[E]
    act: Callable[[E, Assembly, Occasion], JsonObject]

    def __call__(self, event: JsonValue, context: LambdaContext) -> JsonObject:
        """Handle an invocation by Step Functions, EventBridge or a schedule."""
        return self.serve(event, context, services().assembly)

    def serve(self, event: JsonValue, context: LambdaContext, assembly: Assembly) -> JsonObject:
        """Handle an invocation with the given services; raise BadInput for an odd event."""
        return self.act(read(self.model, event), assembly, Occasion.of(context))


def system_event(
    model: type[E],
) -> Callable[[Callable[[E, Assembly, Occasion], JsonObject]], SystemHandler[E]]:
    """Make a function the entry point of a system Lambda whose events are `model`."""
    return lambda act: SystemHandler(model, act)
