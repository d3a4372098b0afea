"""Runs and their steps."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import Annotated, Literal, TypedDict

from pydantic import ConfigDict, Field

from api.models.base import Body, PageOf, Shown
from api.models.versions import Number
from stellwerk.kernel.ids import NodeKey, RunId
from stellwerk.kernel.json import Flag, JsonObject, JsonValue
from stellwerk.runs import comparing
from stellwerk.runs import model as stored
from stellwerk.workflows.graph import KEY_PATTERN

Node = Annotated[NodeKey, Field(pattern=KEY_PATTERN)]
StepName = Annotated[
    str, Field(pattern=r"^[a-z][a-z0-9_.\[\]]{0,399}$", examples=["lines[3].book"])
]
RunName = Annotated[RunId, Field(pattern=r"^[A-Za-z0-9_-]{1,64}$")]
RunStatus = Literal["queued", "running", "paused", "completed", "failed", "cancelled"]
StepStatus = Literal[
    "running", "waiting", "succeeded", "failed", "skipped", "cancelled", "uncertain"
]


class Failure(Shown):
    """An error, and where it happened."""

    type: str = Field(examples=["ServiceUnavailable"])
    message: str
    remedy: str
    node: str | None
    path: str
    uncertain: bool = Field(description="Whether the step may have done its work all the same")

    @classmethod
    def of(cls, failure: stored.Failure) -> Failure:
        """Show an error."""
        return cls(
            type=failure.type,
            message=failure.message,
            remedy=failure.remedy,
            node=failure.node,
            path=failure.path,
            uncertain=failure.uncertain,
        )


class Trigger(Shown):
    """What started a run."""

    node: str
    kind: str = Field(examples=["trigger.manual"])
    delivery: str = Field(description="Names the event; the same one never starts a second run")


class ParentStep(Shown):
    """The step of another run that waits for this one."""

    run: str
    path: str
    node: str


_RUN: JsonObject = {
    "id": "01kb2c3d4e5f6g7h8j9k0m1n2p",
    "workflow": "01kb2c3d4e5f6g7h8j9k0m1n2a",
    "version": 3,
    "title": "Invoice approval",
    "status": "paused",
    "mode": "live",
    "trigger": {"node": "start", "kind": "trigger.manual", "delivery": "inbox-4711"},
    "user": "u-demo",
    "started": "2026-12-01T08:15:00Z",
    "ended": None,
    "waits": 1,
    "generation": 1,
    "execution": "arn:aws:states:eu-central-1:123456789012:execution:m-demo-invoice-v3-1a2b3c4d:r",
    "error": None,
    "parent": None,
    "origin": None,
}


class Run(Shown):
    """One execution of a workflow version."""

    model_config = ConfigDict(json_schema_extra={"example": _RUN})

    id: str
    workflow: str
    version: int
    title: str
    status: RunStatus
    mode: stored.Mode
    trigger: Trigger
    user: str = Field(description="In whose name it acts")
    started: datetime
    ended: datetime | None
    waits: int = Field(description="Open waits for a person, a mail or another run")
    generation: int = Field(description="Rises when an interrupted run is continued")
    execution: str = Field(description="ARN of its execution in Step Functions")
    error: Failure | None
    parent: ParentStep | None
    origin: str | None = Field(description="The run that this one replays")

    @classmethod
    def of(cls, run: stored.Run) -> Run:
        """Show a run."""
        parent, trigger = run.parent, run.trigger
        return cls(
            id=run.id,
            workflow=run.workflow,
            version=run.version,
            title=run.title,
            status=run.status.value,
            mode=run.mode,
            trigger=Trigger(node=trigger.node, kind=trigger.kind, delivery=trigger.delivery),
            user=run.user,
            started=run.started,
            ended=run.ended,
            waits=run.waits,
            generation=run.generation,
            execution=run.execution,
            error=Failure.of(run.error) if run.error else None,
            parent=ParentStep(run=parent.run, path=parent.path, node=parent.node)
            if parent
            else None,
            origin=run.origin,
        )


class RunWithValues(Run):
    """A run, with what it received and what it gave."""

    model_config = ConfigDict(
        json_schema_extra={"example": {**_RUN, "input": {"amount": 1200}, "output": None}}
    )

    input: JsonValue
    output: JsonValue

    @classmethod
    def with_values(cls, run: stored.Run, input: JsonValue, output: JsonValue) -> RunWithValues:
        """Show a run with its values."""
        return cls(**Run.of(run).model_dump(), input=input, output=output)


class RunPage(PageOf[Run]):
    """A page of runs, the newest first."""


class RunCounts(Shown):
    """How many runs stand where."""

    queued: int
    running: int
    paused: int
    completed: int
    failed: int
    cancelled: int
    total: int


class Attempt(Shown):
    """One try of a step."""

    started: datetime
    ended: datetime | None
    error: Failure | None


class Step(Shown):
    """An entry of a run's journal: one execution of a node."""

    step: str = Field(description="Names it within its run", examples=["lines[3].check"])
    path: str
    node: str
    type: str
    status: StepStatus
    port: str | None = Field(description="The port that it has fired")
    attempts: list[Attempt]
    due: datetime | None = Field(description="Until when it waits")
    child: str | None = Field(description="The run that it has started, for a sub-workflow")
    size: int | None = Field(description="Number of items of a loop")
    generation: int
    recorded_from: str | None = Field(description="The run whose record this is")
    dry: bool = Field(description="Whether it answered with its type's sample and did not act")

    @classmethod
    def of(cls, step: stored.Step) -> Step:
        """Show a step, without its values."""
        return cls(
            step=step.key.text,
            path=step.path,
            node=step.node,
            type=step.type,
            status=step.status.value,
            port=step.port,
            attempts=[
                Attempt(
                    started=attempt.started,
                    ended=attempt.ended,
                    error=Failure.of(attempt.error) if attempt.error else None,
                )
                for attempt in step.attempts
            ],
            due=step.due,
            child=step.child,
            size=step.size,
            generation=step.generation,
            recorded_from=step.recorded_from,
            dry=step.dry,
        )


class Steps(PageOf[Step]):
    """A page of a run's steps, in the order in which they began; those that did not come last.

    Only a run with more than a thousand has several; then those outside of loops are on the first.
    """


class StepValues(Shown):
    """What a step received and what it gave, secrets hidden."""

    input: JsonValue = Field(description="Its parameters, resolved")
    value: JsonValue


class Side(Shown):
    """A step in one of two runs."""

    status: StepStatus
    port: str | None
    milliseconds: int | None = Field(description="From its first try to the end of its last")

    @classmethod
    def of(cls, side: comparing.Side | None) -> Side | None:
        """Show a side, if that run has come to the step."""
        if side is None:
            return None
        return cls.model_validate({**vars(side)})


class ComparedStep(Shown):
    """A step in two runs; null where a run has not come to it."""

    step: str
    one: Side | None
    other: Side | None
    equal: bool | None = Field(description="Whether it gave the same value; null: not in both")


class Comparison(Shown):
    """Two runs, step by step; of a run with more than a thousand steps the first thousand."""

    items: list[ComparedStep]

    @classmethod
    def of(cls, steps: Sequence[comparing.Compared]) -> Comparison:
        """Show a comparison."""
        items = [
            ComparedStep(
                step=each.step,
                one=Side.of(each.one),
                other=Side.of(each.other),
                equal=each.equal,
            )
            for each in steps
        ]
        return cls(items=items)


class NewRun(Body):
    """How to start a run."""

    model_config = ConfigDict(
        json_schema_extra={"example": {"trigger": "start", "input": {"amount": 1200}}}
    )

    trigger: Node | None = Field(default=None, description="Where; else at the first trigger")
    input: JsonValue = Field(default=None, description="What the trigger hands on")
    mode: stored.Mode = Field(
        default="live",
        description="live: the published version. test: the latest, or `version`. dry: as test, "
        "but what would write answers with its sample",
    )
    version: Number | None = None
    delivery: str | None = Field(
        default=None,
        min_length=1,
        max_length=200,
        description="Names the event: sent again, it is the same run",
    )
    pinned: dict[Node, JsonValue] = Field(
        default={}, max_length=200, description="Values of nodes that do not run"
    )
    from_node: Node | None = Field(
        default=None, description="Only this node and what follows it runs; not in mode live"
    )
    only_node: Node | None = Field(
        default=None, description="Only this node runs; not in mode live"
    )
    pinned_from: RunName | None = Field(
        default=None, description="Nodes before that one have the values that this run recorded"
    )


class Wish(TypedDict):
    """How to replay, as the service takes it."""

    from_node: NodeKey | None
    assume_done: dict[str, JsonValue]
    repeat: frozenset[str]
    version: int | None


class Replay(Body):
    """How to replay a run that is over."""

    model_config = ConfigDict(json_schema_extra={"example": {"from_node": "book"}})

    from_node: Node | None = Field(
        default=None, description="Runs again with all that follows; else goes on where it failed"
    )
    assume_done: dict[StepName, JsonValue] = Field(
        default={}, max_length=200, description="Uncertain steps that have happened: their values"
    )
    repeat: list[StepName] = Field(
        default=[], max_length=200, description="Uncertain steps that are to be done again"
    )
    version: Number | None = None
    confirm_writes: Flag = Field(
        default=False, description="Whether steps that write may do so again; else they are a 409"
    )

    @property
    def wish(self) -> Wish:
        """The wish, as the service takes it."""
        return Wish(
            from_node=self.from_node,
            assume_done=self.assume_done,
            repeat=frozenset(self.repeat),
            version=self.version,
        )
