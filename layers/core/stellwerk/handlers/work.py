"""What a handler may ask while it works: its input, its time, its identity, and expressions."""

from __future__ import annotations

from dataclasses import dataclass, replace

from stellwerk.handlers.bench import Bench
from stellwerk.kernel.ids import NodeKey, WorkflowId
from stellwerk.kernel.json import JsonValue
from stellwerk.runs.calls import RunRef, idempotency_key
from stellwerk.runs.deadline import Deadline
from stellwerk.runs.execution import Execution
from stellwerk.tenancy.scope import Scope
from stellwerk.workflows.expressions.braces import Malformed, bare
from stellwerk.workflows.expressions.evaluation import evaluate, failure
from stellwerk.workflows.expressions.names import Names


@dataclass(frozen=True)
class Evaluator:
    """Evaluates the expressions that a handler applies by itself: per item, per pass."""

    names: Names
    node: NodeKey
    deadline: Deadline

    def here(self, source: str, parameter: str) -> JsonValue:
        """Return the value of `source`, the text of `parameter`, where the node stands."""
        return self._evaluated(source, parameter, self.names)

    def value(
        self, source: str, parameter: str, *, item: JsonValue = None, index: int = 0
    ) -> JsonValue:
        """Return the value of `source`, the text of `parameter`, for one item."""
        self.deadline.check()
        return self._evaluated(source, parameter, replace(self.names, item=item, index=index))

    def given(self, source: str, parameter: str, *, given: JsonValue, index: int) -> JsonValue:
        """Return the value of `source` where `$input` is `given`, in pass `index` of a loop."""
        self.deadline.check()
        return self._evaluated(source, parameter, replace(self.names, input=given, index=index))

    def _evaluated(self, source: str, parameter: str, names: Names) -> JsonValue:
        try:
            expression = bare(source)
        except Malformed as error:
            raise failure(
                error.message, error.remedy, node=self.node, parameter=parameter
            ) from error
        return evaluate(expression, names, node=self.node, parameter=parameter)


@dataclass(frozen=True)
class Work:
    """One attempt of a step, as its handler sees it."""

    execution: Execution
    bench: Bench
    deadline: Deadline

    @property
    def scope(self) -> Scope:
        """In whose name the step acts."""
        return self.execution.site.scope

    @property
    def run(self) -> RunRef:
        """The run that the step belongs to."""
        return self.execution.site.call.run

    @property
    def workflow(self) -> WorkflowId:
        """The workflow of the run."""
        return self.run.workflow

    @property
    def node(self) -> NodeKey:
        """The node's key."""
        return self.execution.site.call.node

    @property
    def title(self) -> str:
        """What the author calls the node."""
        return self.execution.site.plan.node.title or self.node

    @property
    def input(self) -> JsonValue:
        """`$input`."""
        return self.execution.given.input

    @property
    def inputs(self) -> dict[str, JsonValue]:
        """The values of the live predecessors, by key."""
        return self.execution.given.inputs

    @property
    def idempotency_key(self) -> str:
        """By what a service knows this effect again, in every attempt."""
        step = self.execution.step
        return idempotency_key(self.run.origin, step.key, step.generation)

    @property
    def evaluator(self) -> Evaluator:
        """What evaluates the node's raw expressions."""
        return Evaluator(self.execution.given.names(), self.node, self.deadline)
