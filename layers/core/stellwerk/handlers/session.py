"""One invocation of a node's Lambda: parameters checked, failures journaled and raised."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Protocol, TypeVar

from pydantic import BaseModel, ValidationError

from stellwerk.catalogue.model import NodeType
from stellwerk.handlers.bench import Bench
from stellwerk.handlers.work import Work
from stellwerk.kernel.errors import InvalidParameters
from stellwerk.kernel.json import JsonObject
from stellwerk.runs.calls import Call
from stellwerk.runs.deadline import Deadline
from stellwerk.runs.execution import Execution, Site
from stellwerk.runs.model import StepKey
from stellwerk.workflows.expressions.parameters import field_of, resolve

RESERVE = 1.0
"""Seconds that the Lambda keeps for writing down how an attempt has ended."""
M = TypeVar("M", bound=BaseModel)


class LambdaContext(Protocol):
    """The part of Lambda's context that is used."""

    @property
    def aws_request_id(self) -> str:
        """The invocation's id."""

    def get_remaining_time_in_millis(self) -> int:
        """Return how long the function may still run."""


class Session:
    """What a handler's class works with."""

    def __init__(
        self, call: Call, context: LambdaContext, bench: Bench, declaration: NodeType
    ) -> None:
        self.call = call
        self.bench = bench
        self.scope = call.run.scope(context.aws_request_id)
        self._context = context
        assembly = bench.assembly
        run, blueprints = call.run, assembly.world.blueprints
        blueprint = blueprints.of(self.scope, run.workflow, run.version, run.trial)
        self.site = Site(assembly.world, self.scope, blueprint, call, declaration)
        self.resolved: JsonObject = {}

    def arrive(self, *also: StepKey) -> Execution:
        """Read the journal, the entries `also` among them; to be called once."""
        self.execution = Execution(self.site, self.bench.assembly.gates, also=also)
        return self.execution

    @property
    def seconds(self) -> float:
        """How long an attempt that begins now may take."""
        remaining = self._context.get_remaining_time_in_millis() / 1000 - RESERVE
        timeout = self.site.plan.node.timeout or self.site.declaration.timeout
        return max(0.1, min(remaining, timeout))

    @property
    def disabled(self) -> bool:
        """Whether the node only passes its input through."""
        return self.site.plan.node.disabled

    def pass_through(self) -> JsonObject:
        """Fire the first port with the node's input."""
        return self.execution.finish(self.site.ports[0], self.execution.given.input)

    @property
    def dry(self) -> bool:
        """Whether the step would write, and its run must not: asked once parameters are known."""
        return self.call.run.mode == "dry" and self.site.declaration.writes_with(self.resolved)

    def answer_with_sample(self) -> JsonObject:
        """Fire the first port with the type's sample, as an attempt of which the journal says so.

        Only its end is written: nothing is in flight that might have happened.
        """
        self.execution.enter(self.resolved, dry=True)
        return self.execution.finish(self.site.ports[0], self.site.declaration.sample)

    @contextmanager
    def failing(self, kind: type[Exception] = Exception) -> Iterator[None]:
        """Journal an error that is raised inside as the end of the attempt, and raise it on."""
        try:
            yield
        except kind as error:
            raised = self.execution.fail(error, parameters=self.resolved)
            if raised is error:
                raise
            raise raised from error

    def parameters(self, model: type[M]) -> M:
        """Return the node's parameters, expressions resolved, as `model`."""
        plan = self.site.plan
        names = self.execution.given.names()
        self.resolved = resolve(plan.node.parameters, names, node=plan.node.key, raw=plan.needs.raw)
        return self.checked(model, self.resolved)

    def recorded(self, model: type[M]) -> M:
        """Return the parameters with which the step has begun, as `model`."""
        self.resolved = self.execution.parameters_of_record()
        return self.checked(model, self.resolved)

    def checked(self, model: type[M], parameters: JsonObject) -> M:
        """Return `parameters` as `model`; raise InvalidParameters that names every fault."""
        try:
            return model.model_validate(parameters)
        except ValidationError as error:
            faults = [_fault(fault["loc"], fault["msg"]) for fault in error.errors()]
            raise InvalidParameters(
                f"Node {self.call.node}: {'; '.join(faults)}",
                remedy="Correct these parameters, or the expressions that they are made of.",
            ) from None

    def work(self, seconds: float) -> Work:
        """Return what the handler's function may ask."""
        deadline = Deadline.within(self.site.world.clock, seconds)
        return Work(self.execution, self.bench, deadline)


def _fault(place: tuple[int | str, ...], message: str) -> str:
    name = ""
    for part in place:
        if isinstance(part, int):
            name = f"{name}[{part}]"
        else:
            name = field_of(name, part) if name else part
    return f"parameter {name}: {message}" if name else message
