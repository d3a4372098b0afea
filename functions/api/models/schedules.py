"""Schedules: when they are due, and what became of their last times."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import Annotated, Literal

from pydantic import ConfigDict, Field

from api.models.base import Body, Shown
from stellwerk.kernel.json import JsonObject, JsonValue
from stellwerk.triggers.schedules import drift, model, service
from stellwerk.triggers.schedules.expressions import Expression
from stellwerk.triggers.schedules.timing import Fault

Due = Annotated[
    str, Field(description="With its UTC offset", examples=["2026-12-24T18:00:00+01:00"])
]


class Registered(Shown):
    """What EventBridge Scheduler holds of a schedule."""

    name: str
    expression: str = Field(examples=["cron(30 7 ? * MON-FRI *)"])
    zone: str
    digest: str = Field(description="Tells whether it was changed")


class Schedule(Shown):
    """An armed trigger: it fires as long as its workflow is active and this version published."""

    model_config = ConfigDict(
        json_schema_extra={
            "example": {
                "workflow": "01kb2c3d4e5f6g7h8j9k0m1n2a",
                "title": "Stock report",
                "node": "night",
                "parameters": {"cron": "30 7 * * MON-FRI"},
                "since": "2026-12-01T08:15:00Z",
                "next": ["2026-12-02T07:30:00+01:00"],
                "group": "stellwerk-07",
                "registered": [],
            }
        }
    )

    workflow: str
    title: str
    node: str
    parameters: JsonObject
    since: datetime = Field(description="Since when it is armed with these parameters")
    next: list[Due] = Field(description="The next five times")
    group: str = Field(description="Its group at EventBridge Scheduler")
    registered: list[Registered] = Field(description="One, or two where cron's days are either")

    @classmethod
    def of(cls, armed: service.Armed) -> Schedule:
        """Show an armed trigger."""
        return cls(
            workflow=armed.workflow.id,
            title=armed.workflow.title,
            node=armed.span.node,
            parameters=armed.span.parameters,
            since=armed.span.since,
            next=[*armed.next],
            group=armed.group,
            registered=[
                Registered(name=one.name, expression=one.text, zone=one.zone, digest=one.digest)
                for one in armed.handle
            ],
        )


class Slot(Shown):
    """What became of one planned time."""

    workflow: str
    node: str
    at: datetime = Field(description="The planned time")
    status: Literal["fired", "skipped", "missed"]
    reason: Literal["inactive", "unplanned", "overlap", "limit", "rights", "invalid"] | None = (
        Field(description="Why it was skipped")
    )
    note: str
    run: str | None
    late: float = Field(description="Seconds between the planned time and what became of it")
    caught_up: bool = Field(description="Whether it was missed first, and made good")

    @classmethod
    def of(cls, slot: model.Slot) -> Slot:
        """Show a slot."""
        return cls(
            workflow=slot.workflow,
            node=slot.node,
            at=slot.at,
            status=slot.status.value,
            reason=slot.reason.value if slot.reason else None,
            note=slot.note,
            run=slot.run,
            late=slot.late.total_seconds(),
            caught_up=slot.caught_up,
        )


class WorkflowSchedules(Shown):
    """The schedules of a workflow, and their last 50 times, the newest first."""

    items: list[Schedule]
    slots: list[Slot]

    @classmethod
    def of(cls, found: service.OfWorkflow) -> WorkflowSchedules:
        """Show them."""
        return cls(items=[Schedule.of(one) for one in found.schedules], slots=_slots(found.slots))


class SchedulePage(Shown):
    """A page of an instance's schedules, and its last times that were late or missed."""

    items: list[Schedule]
    cursor: str | None = Field(description="Where the next page begins; null at the end")
    late: list[Slot]
    missed: list[Slot]

    @classmethod
    def of(cls, found: service.OfInstance) -> SchedulePage:
        """Show them."""
        return cls(
            items=[Schedule.of(one) for one in found.schedules.items],
            cursor=found.schedules.cursor,
            late=_slots(found.late),
            missed=_slots(found.missed),
        )


class ScheduleParameters(Body):
    """Parameters of a `trigger.schedule`, as they are drawn."""

    model_config = ConfigDict(
        json_schema_extra={"example": {"parameters": {"cron": "30 7 * * MON-FRI"}}}
    )

    parameters: dict[str, JsonValue] = Field(max_length=50)


class ScheduleFault(Shown):
    """What is wrong with a parameter."""

    parameter: str
    message: str
    remedy: str


class SchedulePreview(Shown):
    """When such a schedule would be due; or what is wrong with it."""

    next: list[Due]
    expressions: list[str] = Field(description="What EventBridge Scheduler would be told")
    faults: list[ScheduleFault]

    @classmethod
    def of(cls, found: service.Preview) -> SchedulePreview:
        """Show what parameters mean."""
        return cls(next=[*found.times], expressions=_texts(found.expressions), faults=[])

    @classmethod
    def faulty(cls, faults: Sequence[Fault]) -> SchedulePreview:
        """Show what is wrong with parameters."""
        shown = [
            ScheduleFault(parameter=one.parameter, message=one.message, remedy=one.remedy)
            for one in faults
        ]
        return cls(next=[], expressions=[], faults=shown)


class ScheduleRepair(Shown):
    """One thing that was not as it should be, and is mended."""

    kind: Literal["unarmed", "missing", "changed", "stray"]
    workflow: str
    schedule: str = Field(description="Its name; empty: all of the workflow's")


class ScheduleReport(Shown):
    """What was compared with EventBridge Scheduler, and mended."""

    compared: int
    repairs: list[ScheduleRepair]

    @classmethod
    def of(cls, report: drift.Report) -> ScheduleReport:
        """Show a report."""
        return cls(
            compared=report.compared,
            repairs=[
                ScheduleRepair(kind=one.kind.value, workflow=one.workflow, schedule=one.schedule)
                for one in report.repairs
            ],
        )


def _slots(slots: Sequence[model.Slot]) -> list[Slot]:
    return [Slot.of(slot) for slot in slots]


def _texts(expressions: Sequence[Expression]) -> list[str]:
    return [one.text for one in expressions]
