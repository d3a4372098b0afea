"""Nodes that wait for a moment (`@delay`), a person (`@question`), a child run (`@child_run`).

Each is called in phases: `open` fixes until when, `wait` hands over the token that wakes, `close`
reads from the records what has come of it. A token only wakes.
"""

from __future__ import annotations

import math
from abc import abstractmethod
from collections.abc import Callable
from dataclasses import replace
from datetime import datetime, timedelta
from typing import TypeVar

from pydantic import BaseModel

from stellwerk.catalogue.model import Effect, Kind, NodeType
from stellwerk.handlers.declare import Given, Parameters, Traits, declare, parameters_of
from stellwerk.handlers.session import Session
from stellwerk.handlers.step import Handler
from stellwerk.handlers.work import Work
from stellwerk.kernel.clock import instant
from stellwerk.kernel.errors import InvalidParameters, NotFound, PermanentError
from stellwerk.kernel.json import JsonObject, JsonValue
from stellwerk.runs.asking import Question, check_question
from stellwerk.runs.calls import task_id
from stellwerk.runs.children import ChildCall
from stellwerk.runs.execution import Execution
from stellwerk.runs.model import HumanTask, StepStatus
from stellwerk.workflows.graph import OUT_PORT

LONGEST = timedelta(days=365)
"""Step Functions ends what is older."""
_NOBODY_ASKED = "never-asked"
P = TypeVar("P", bound=Parameters)


class WaitingHandler(Handler[P]):
    """The phases that all waits share; `due` is computed once and kept in the journal."""

    opened_as = StepStatus.RUNNING

    def perform(self, session: Session) -> JsonObject:
        """Do what the phase asks for."""
        execution = session.arrive()
        reply = execution.settled()
        if session.call.phase == "open":
            return self._open(session, execution, reply)
        if session.call.phase == "wait":
            return self._wait(session, reply)
        if reply is None and session.disabled:
            return session.pass_through()
        return reply if reply is not None else self.close(session, execution)

    @abstractmethod
    def due(self, session: Session) -> datetime:
        """Resolve the parameters, and return until when the node waits at most."""

    @abstractmethod
    def wait(self, session: Session) -> None:
        """Register the token of the call."""

    @abstractmethod
    def close(self, session: Session, execution: Execution) -> JsonObject:
        """Fire the port that the wait has led to."""

    def _open(self, session: Session, execution: Execution, reply: JsonObject | None) -> JsonObject:
        if reply is None and session.disabled:
            reply = session.pass_through()
        if reply is not None:
            return reply | _until(session, session.site.now)
        due = execution.step.due
        if due is None:
            with session.failing():
                due = _within_limits(session, self.due(session))
            execution.begin(session.resolved, status=self.opened_as, due=due)
        return {"step": session.call.address} | _until(session, due)

    def _wait(self, session: Session, reply: JsonObject | None) -> JsonObject:
        if reply is None:
            self.wait(session)
        else:
            executions = session.site.world.executions
            executions.succeed(session.scope, session.call.token, {})
        return {}


class DelayHandler(WaitingHandler[P]):
    """Waits for a moment that its function names; its value is its input."""

    opened_as = StepStatus.WAITING

    def __init__(
        self,
        declaration: NodeType,
        parameters: type[P],
        function: Callable[[P, Work], datetime],
    ) -> None:
        super().__init__(declaration, parameters)
        self._function = function

    def due(self, session: Session) -> datetime:
        """Return the moment that the function names."""
        return self._function(session.parameters(self.parameters), session.work(session.seconds))

    def wait(self, session: Session) -> None:
        """Do nothing: Step Functions itself waits."""

    def close(self, session: Session, execution: Execution) -> JsonObject:
        """Fire the first port."""
        return session.pass_through()


class QuestionHandler(WaitingHandler[P]):
    """Waits for a person's decision on the question that its function asks."""

    def __init__(
        self,
        declaration: NodeType,
        parameters: type[P],
        function: Callable[[P, Work], Question],
    ) -> None:
        super().__init__(declaration, parameters)
        self._function = function

    def due(self, session: Session) -> datetime:
        """Return when the question expires."""
        question = self._question(session, session.parameters(self.parameters))
        check_question(session.site.world, session.scope, question)
        return question.due or session.site.now + LONGEST

    def wait(self, session: Session) -> None:
        """Open the task under the call's token."""
        self._ask(session, session.call.token)

    def close(self, session: Session, execution: Execution) -> JsonObject:
        """Fire the port that was decided, or `expired`."""
        tasks, step = session.bench.assembly.tasks, execution.step
        task = task_id(step.run, step.key, step.generation)
        try:
            ended = tasks.settle(session.scope, task, session.site.now)
        except NotFound:  # the time was over before anybody could be asked
            self._ask(session, _NOBODY_ASKED)
            execution = session.arrive()
            ended = tasks.settle(session.scope, task, session.site.now)
        value = answer(ended)
        return execution.finish(str(value["decision"]), value)

    def _ask(self, session: Session, token: str) -> None:
        step = session.execution.step
        question = self._question(session, session.recorded(self.parameters))
        question = replace(question, due=step.due)
        session.bench.assembly.tasks.open_task(session.scope, step, question, token)

    def _question(self, session: Session, parameters: P) -> Question:
        return self._function(parameters, session.work(session.seconds))


class ChildRunHandler(WaitingHandler[P]):
    """Waits for the run of the workflow that its function calls."""

    def __init__(
        self,
        declaration: NodeType,
        parameters: type[P],
        function: Callable[[P, Work], ChildCall],
    ) -> None:
        super().__init__(declaration, parameters)
        self._function = function

    def due(self, session: Session) -> datetime:
        """Return the last moment that Step Functions would wait for."""
        session.parameters(self.parameters)
        return session.site.now + LONGEST

    def wait(self, session: Session) -> None:
        """Start the child run under the call's token."""
        with session.failing(PermanentError):  # others may come after the wait has been counted
            call = self._function(session.recorded(self.parameters), session.work(session.seconds))
            session.bench.assembly.children.open(
                session.scope, session.execution.step, call, session.call.token
            )

    def close(self, session: Session, execution: Execution) -> JsonObject:
        """Fire `out` with the child's output; raise what it has failed with."""
        children = session.bench.assembly.children
        with session.failing():
            execution.step = children.close(session.scope, execution.step)
            value = children.outcome(session.scope, execution.step)
        return execution.finish(OUT_PORT, value)


def answer(task: HumanTask) -> JsonObject:
    """Return how a task was decided, as the value of the node that asked."""
    decision = task.decision
    assert decision is not None, task.id
    votes: list[JsonValue] = [vote.model_dump(mode="json") for vote in task.votes]
    return {
        "decision": decision.port,
        "data": decision.data,
        "by": decision.by,
        "at": instant(decision.at),
        "on_behalf_of": decision.on_behalf_of,
        "comment": decision.comment,
        "votes": votes,
    }


def delay(*, title: str) -> Callable[[Callable[[P, Work], datetime]], DelayHandler[P]]:
    """Declare a node that waits until the moment that its function returns."""
    traits = Traits(title=title, kind=Kind.DELAY)
    return lambda function: DelayHandler(*_declared(function, traits, Given), function)


def question(
    *, title: str, ports: tuple[str, ...], result: type[BaseModel], ports_from: str | None = None
) -> Callable[[Callable[[P, Work], Question]], QuestionHandler[P]]:
    """Declare a node that asks a person."""
    traits = Traits(
        title=title, kind=Kind.WAIT, idempotent=True, ports=ports, ports_from=ports_from
    )
    return lambda function: QuestionHandler(*_declared(function, traits, result), function)


def child_run(
    *, title: str, result: type[BaseModel]
) -> Callable[[Callable[[P, Work], ChildCall]], ChildRunHandler[P]]:
    """Declare a node that starts another workflow and waits for it."""
    traits = Traits(title=title, kind=Kind.WAIT, effect=Effect.WRITE, idempotent=True)
    return lambda function: ChildRunHandler(*_declared(function, traits, result), function)


def _declared(
    function: Callable[[P, Work], object], traits: Traits, result: type[BaseModel]
) -> tuple[NodeType, type[P]]:
    parameters: type[P] = parameters_of(function)
    return declare(function, traits, parameters=parameters, result=result), parameters


def _until(session: Session, moment: datetime) -> JsonObject:
    """Return until when to wait, as a moment and in whole seconds, at least one."""
    seconds = math.ceil((moment - session.site.now).total_seconds())
    most = int(LONGEST.total_seconds())
    return {"until": instant(moment), "seconds": min(max(seconds, 1), most)}


def _within_limits(session: Session, moment: datetime) -> datetime:
    if moment - session.site.now > LONGEST:
        raise InvalidParameters(
            f"Node {session.call.node} would wait until {instant(moment)}: more than 365 days.",
            remedy="Choose an earlier moment.",
        )
    return moment
