"""`@step`: a function with a parameters and a result model becomes a node's Lambda.

Around the function: read the journal, obey it, resolve and check parameters, write that the attempt
has begun, run under a deadline, check the result, write how it has ended, reply with the port.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from typing import Generic, TypeAlias, TypeVar

from pydantic import BaseModel, RootModel

from stellwerk.bootstrap import services
from stellwerk.catalogue.model import PLATFORM_TRIES, Effect, Kind, NodeType
from stellwerk.handlers.bench import Bench
from stellwerk.handlers.declare import Fired, Parameters, Traits, declare, parameters_of, result_of
from stellwerk.handlers.session import LambdaContext, Session
from stellwerk.handlers.work import Work
from stellwerk.kernel.errors import InvalidResult
from stellwerk.kernel.json import JsonObject, JsonValue
from stellwerk.runs.calls import Call
from stellwerk.workflows.graph import OUT_PORT

P = TypeVar("P", bound=Parameters)
R = TypeVar("R", bound=BaseModel)
Outcome: TypeAlias = R | Fired[R]


class Handler(ABC, Generic[P]):
    """A Lambda's entry point. Subclasses say what the phases of a kind of node do."""

    def __init__(self, declaration: NodeType, parameters: type[P]) -> None:
        self.declaration = declaration
        self.parameters = parameters

    def __call__(self, event: JsonObject, context: LambdaContext) -> JsonObject:
        """Handle an invocation by Step Functions."""
        return self.serve(event, context, services())

    def serve(self, event: JsonObject, context: LambdaContext, bench: Bench) -> JsonObject:
        """Handle an invocation with the given services."""
        call = Call.model_validate(event)
        return self.perform(Session(call, context, bench, self.declaration))

    @abstractmethod
    def perform(self, session: Session) -> JsonObject:
        """Do what the call's phase asks for, and return the reply."""


class StepHandler(Handler[P]):
    """A node that is done in one call: a step, a trigger, a stop."""

    def __init__(
        self,
        declaration: NodeType,
        parameters: type[P],
        result: type[BaseModel],
        function: Callable[[P, Work], Outcome[BaseModel]],
    ) -> None:
        super().__init__(declaration, parameters)
        self._result = result
        self._function = function

    def perform(self, session: Session) -> JsonObject:
        """Run the function, unless the journal says otherwise."""
        execution = session.arrive()
        reply = execution.admitted()
        if reply is not None:
            return reply
        if session.disabled:
            return session.pass_through()
        with session.failing():
            parameters = session.parameters(self.parameters)
        if session.dry:
            return session.answer_with_sample()
        seconds = session.seconds
        self._begin(session, seconds)
        with session.failing():
            port, value = self._run(parameters, session.work(seconds), session.site.ports)
        return execution.finish(port, value)

    def _begin(self, session: Session, seconds: float) -> None:
        session.execution.begin(session.resolved, seconds=seconds)

    def _run(self, parameters: P, work: Work, ports: tuple[str, ...]) -> tuple[str, JsonValue]:
        with work.deadline.enforced():
            outcome = self._function(parameters, work)
        fired = outcome if isinstance(outcome, Fired) else Fired(ports[0], outcome)
        if fired.port not in ports:
            raise InvalidResult(
                f"Node {work.node} fired port '{fired.port}'. It has: {', '.join(ports)}.",
                remedy="The developer of this node type must mend it.",
            )
        return fired.port, value_of(fired.value, self._result)


class ComputationHandler(StepHandler[P]):
    """A step that acts on nothing outside: it may run again at will, so only its end is written."""

    def _begin(self, session: Session, seconds: float) -> None:
        session.execution.enter(session.resolved)


def value_of(result: BaseModel, model: type[BaseModel]) -> JsonValue:
    """Return a result as JSON; raise InvalidResult if it is not what its handler declares."""
    if not isinstance(result, model):
        raise InvalidResult(
            f"The handler returned {type(result).__name__} instead of {model.__name__}.",
            remedy="The developer of this node type must mend it.",
        )
    if isinstance(result, RootModel):
        root: JsonValue = result.root
        return root
    return result.model_dump(mode="json")


def step(
    *,
    title: str,
    kind: Kind = Kind.STEP,
    effect: Effect = Effect.READ,
    idempotent: bool = False,
    ports: tuple[str, ...] = (OUT_PORT,),
    ports_from: str | None = None,
    retry: tuple[str, ...] | None = None,
    attempts: int = PLATFORM_TRIES,
    timeout: int = 30,
    extra: JsonObject | None = None,
) -> Callable[[Callable[[P, Work], Outcome[R]]], StepHandler[P]]:
    """Declare a node type that is done in one call.

    One that only reads is a computation: it works on its input alone and in little time, since it
    is in the journal from its end on. What asks a service is an action.

    `retry` names the errors after which it is tried again (default: those after which nothing has
    happened), `timeout` is in seconds, `ports_from` names the parameter that lists further ports.
    """
    traits = Traits(
        title=title,
        kind=kind,
        effect=effect,
        idempotent=idempotent,
        ports=ports,
        ports_from=ports_from,
        retry=retry,
        attempts=attempts,
        timeout=timeout,
        extra=extra,
    )
    computes = effect is Effect.READ
    return lambda function: made(function, traits, ComputationHandler if computes else StepHandler)


def made(
    function: Callable[[P, Work], Outcome[R]],
    traits: Traits,
    handler: type[StepHandler[P]] = StepHandler,
) -> StepHandler[P]:
    """Return the handler of a step whose function and traits are given."""
    parameters: type[P] = parameters_of(function)
    result = result_of(function)
    declaration = declare(function, traits, parameters=parameters, result=result)
    return handler(declaration, parameters, result, function)
