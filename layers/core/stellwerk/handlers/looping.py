"""Containers: `@for_each` opens one scope per item, `@repeat` (`while`) checks before every pass.

Their bodies run in the state machine; what the passes have come to is read from the journal.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable
from typing import Protocol, TypeVar

from pydantic import BaseModel

from stellwerk.catalogue.model import Kind, NodeType
from stellwerk.handlers.declare import Parameters, Traits, declare, parameters_of
from stellwerk.handlers.session import Session
from stellwerk.handlers.step import Handler
from stellwerk.handlers.work import Work
from stellwerk.kernel.errors import Conflict, LoopLimitExceeded
from stellwerk.kernel.json import JsonObject, JsonValue
from stellwerk.runs.chunks import Chunk, Chunks
from stellwerk.runs.execution import Execution
from stellwerk.runs.leases import in_flight
from stellwerk.runs.loops import AGAIN, Passes, chunks_of
from stellwerk.workflows.graph import OUT_PORT

P = TypeVar("P", bound=Parameters)
Q = TypeVar("Q", bound=Parameters, contravariant=True)


class Condition(Protocol[Q]):
    """Says whether a pass follows, given its number and the value that it would be given."""

    def __call__(self, parameters: Q, work: Work, /, *, value: JsonValue, index: int) -> bool:
        """Return whether there is another pass."""


class LoopHandler(Handler[P]):
    """What both loops share: where their passes are, and how chunks of them start."""

    def passes(self, session: Session) -> Passes:
        """Return the passes of the loop that is called."""
        return Passes(session.site.world, session.scope, session.site.blueprint, session.call)

    def chunk(self, session: Session) -> JsonObject:
        """Start the chunk of passes that the call names."""
        call, execution = session.call, session.arrive()
        reply = execution.settled()
        if reply is not None:
            session.site.world.executions.succeed(session.scope, call.token, {})
            return reply
        first = call.chunk * call.chunk_size
        end = min(first + call.chunk_size, self.limit(session, execution))
        chunk = Chunk(call.run, call.key, call.chunk)
        chunks = Chunks(session.site.world)
        chunks.start(session.scope, session.site.blueprint, chunk, call.token, (first, end))
        return {}

    @abstractmethod
    def limit(self, session: Session, execution: Execution) -> int:
        """Return the number of the pass that no chunk reaches."""


class ForEachHandler(LoopHandler[P]):
    """Runs its body once per item that its function returns."""

    def __init__(
        self,
        declaration: NodeType,
        parameters: type[P],
        function: Callable[[P, Work], list[JsonValue]],
    ) -> None:
        super().__init__(declaration, parameters)
        self._function = function

    def perform(self, session: Session) -> JsonObject:
        """Do what the phase asks for."""
        if session.call.phase == "chunk":
            return self.chunk(session)
        execution = session.arrive()
        reply = execution.settled()
        if session.call.phase == "open":
            return self._open(session, execution, reply)
        if reply is None and session.disabled:
            reply = session.pass_through()
        if reply is not None:
            return reply
        with session.failing():
            value = self.passes(session).collected(execution.step.size or 0)
        return execution.fire(OUT_PORT, value)

    def limit(self, session: Session, execution: Execution) -> int:
        """Return the number of items."""
        return execution.step.size or 0

    def _open(self, session: Session, execution: Execution, reply: JsonObject | None) -> JsonObject:
        if reply is None and session.disabled:
            reply = session.pass_through()
        if reply is not None:
            return reply | {"size": 0, "chunks": 0}
        if execution.step.size is None:
            self._begin(session, execution)
        size = execution.step.size or 0
        chunks = chunks_of(size, session.call.chunk_size)
        return {"size": size, "chunks": chunks, "step": session.call.address}

    def _begin(self, session: Session, execution: Execution) -> None:
        """Open the scopes first: that the loop has a size says that it has them all."""
        with session.failing():
            parameters = session.parameters(self.parameters)
            items = self._function(parameters, session.work(session.seconds))
        self.passes(session).open_all(items)
        execution.begin(session.resolved, size=len(items))


class RepeatHandler(LoopHandler[P]):
    """Runs its body as long as its function says so, at most as often as `most` says."""

    def __init__(
        self,
        declaration: NodeType,
        parameters: type[P],
        function: Condition[P],
        most: Callable[[P], int],
    ) -> None:
        super().__init__(declaration, parameters)
        self._function = function
        self._most = most

    def perform(self, session: Session) -> JsonObject:
        """Do what the phase asks for."""
        if session.call.phase == "chunk":
            return self.chunk(session)
        if session.call.phase == "resume":
            return session.arrive().settled() or {"port": AGAIN, "step": session.call.address}
        return self._check(session)

    def limit(self, session: Session, execution: Execution) -> int:
        """Return a number that no loop reaches: its own limit ends it with an error first."""
        return (session.call.chunk + 1) * session.call.chunk_size

    def _check(self, session: Session) -> JsonObject:
        passes, index = self.passes(session), session.call.index
        before = passes.ends(index - 1) if index else []
        execution = session.arrive(passes.key(index), *before)
        reply = execution.settled()
        if reply is None and session.disabled:
            reply = session.pass_through()
        if reply is not None:
            return reply
        parameters = self._parameters(session, execution)
        port = self._decide(session, passes, parameters)
        if port == AGAIN:
            reply = {"port": AGAIN, "path": passes.path(index), "step": session.call.address}
            return reply
        value: JsonObject = {"value": self._given(session, passes), "passes": index}
        return execution.finish(OUT_PORT, value)

    def _parameters(self, session: Session, execution: Execution) -> P:
        """Begin the loop with its first check; later ones find its parameters in the journal."""
        if in_flight(execution.step):
            return session.recorded(self.parameters)
        with session.failing():
            parameters = session.parameters(self.parameters)
        execution.begin(session.resolved)
        return parameters

    def _decide(self, session: Session, passes: Passes, parameters: P) -> str:
        """Return what was recorded of this check; else evaluate and record it."""
        index, entries = session.call.index, session.execution.given.entries
        recorded = entries.get(passes.key(index))
        if recorded is not None and recorded.port is not None:
            return recorded.port
        with session.failing():
            value = self._given(session, passes)
            again = self._again(session, parameters, value)
        scope = passes.opened(index, value, port=AGAIN if again else OUT_PORT)
        revision = recorded.revision if recorded is not None else 0
        checked = scope.model_copy(update={"revision": revision})
        try:
            session.site.world.journal.write(session.scope, checked)
        except Conflict as conflict:
            raise session.execution.busy(None) from conflict
        return AGAIN if again else OUT_PORT

    def _again(self, session: Session, parameters: P, value: JsonValue) -> bool:
        index, most = session.call.index, self._most(parameters)
        work = session.work(session.seconds)
        again = self._function(parameters, work, value=value, index=index)
        if again and index >= most:
            raise LoopLimitExceeded(
                f"Loop {session.call.node} has made {most} passes, and its condition still holds.",
                remedy="Correct the condition, or raise `max_passes`.",
            )
        return again

    def _given(self, session: Session, passes: Passes) -> JsonValue:
        index, given = session.call.index, session.execution.given
        return given.input if index == 0 else passes.value(given.entries, index - 1)


def for_each(
    *, title: str, result: type[BaseModel]
) -> Callable[[Callable[[P, Work], list[JsonValue]]], ForEachHandler[P]]:
    """Declare a container that runs its body once per item that its function returns."""

    def made(function: Callable[[P, Work], list[JsonValue]]) -> ForEachHandler[P]:
        parameters: type[P] = parameters_of(function)
        traits = Traits(title=title, kind=Kind.FOR_EACH)
        declaration = declare(function, traits, parameters=parameters, result=result)
        return ForEachHandler(declaration, parameters, function)

    return made


def repeat(
    *, title: str, result: type[BaseModel], most: Callable[[P], int]
) -> Callable[[Condition[P]], RepeatHandler[P]]:
    """Declare a container that runs its body as long as its function says."""

    def made(function: Condition[P]) -> RepeatHandler[P]:
        parameters: type[P] = parameters_of(function)
        traits = Traits(title=title, kind=Kind.WHILE)
        declaration = declare(function, traits, parameters=parameters, result=result)
        return RepeatHandler(declaration, parameters, function, most)

    return made
