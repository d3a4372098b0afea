"""EventBridge Scheduler: the schedules of a mandate, in the group that its id falls into."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import TYPE_CHECKING

from botocore.exceptions import ClientError

from stellwerk.aws.errors import code_of, translated
from stellwerk.kernel.errors import NotFound
from stellwerk.kernel.ids import WorkflowId
from stellwerk.tenancy.scope import Scope
from stellwerk.triggers.schedules.model import Found, Held, Planned
from stellwerk.triggers.schedules.naming import group_of, prefix_of

if TYPE_CHECKING:
    from mypy_boto3_scheduler import EventBridgeSchedulerClient
    from mypy_boto3_scheduler.type_defs import CreateScheduleInputTypeDef

SCHEDULED = "<aws.scheduler.scheduled-time>"
"""What the Scheduler replaces by the time for which it fires, such as 2026-12-01T06:30:00Z."""
_GONE = "ResourceNotFoundException"
_THERE = "ConflictException"
_AGE, _TRIES = 3600, 10
"""Seconds for which, and how often the Scheduler tries to call; then the event is undelivered."""


@dataclass(frozen=True)
class Target:
    """What schedules call, and as whom; `undelivered` is the queue of what could not be, or ""."""

    prefix: str
    function: str
    role: str
    undelivered: str = ""


class EventBridgeScheduler:
    """Schedules. Requests: 1 each; more where what is held is not what was thought."""

    def __init__(self, client: Callable[[], EventBridgeSchedulerClient], target: Target) -> None:
        self._client = client
        self._target = target

    def put(
        self, scope: Scope, workflow: WorkflowId, planned: Planned, *, new: bool, now: datetime
    ) -> None:
        """Create or change a schedule; raises NotFound for a name of another mandate."""
        self._check(scope, planned.name)
        request = self._request(scope, workflow, planned, now)
        with translated():
            if new:
                self._create(scope, request)
            else:
                self._change(scope, request)

    def remove(self, scope: Scope, name: str) -> None:
        """Remove a schedule; one that is gone is removed."""
        self._check(scope, name)
        with translated():
            try:
                self._client().delete_schedule(GroupName=self._group(scope), Name=name)
            except ClientError as error:
                if code_of(error) != _GONE:
                    raise

    def listed(self, scope: Scope) -> Iterator[Found]:
        """Yield all schedules of the scope's mandate, a hundred with each request."""
        pages = (
            self._client()
            .get_paginator("list_schedules")
            .paginate(GroupName=self._group(scope), NamePrefix=prefix_of(scope.mandate))
        )
        with translated():
            for page in pages:
                for one in page["Schedules"]:
                    yield Found(
                        name=one["Name"],
                        modified=one["LastModificationDate"].astimezone(UTC),
                        enabled=one["State"] == "ENABLED",
                    )

    def held(self, scope: Scope, name: str) -> Held | None:
        """Return what is held under a name of the scope's mandate."""
        self._check(scope, name)
        with translated():
            try:
                found = self._client().get_schedule(GroupName=self._group(scope), Name=name)
            except ClientError as error:
                if code_of(error) != _GONE:
                    raise
                return None
        return Held(
            text=found["ScheduleExpression"],
            zone=found.get("ScheduleExpressionTimezone", "UTC"),
            input=found["Target"].get("Input", ""),
            enabled=found["State"] == "ENABLED",
        )

    def input(self, scope: Scope, workflow: WorkflowId, planned: Planned) -> str:
        """Return what a schedule hands over to the function."""
        return json.dumps(
            {
                "mandate": scope.mandate,
                "instance": scope.instance,
                "workflow": workflow,
                "node": planned.node,
                "at": SCHEDULED,
            }
        )

    def _change(self, scope: Scope, request: CreateScheduleInputTypeDef) -> None:
        """Change a schedule; create one that is gone."""
        try:
            self._client().update_schedule(**request)
        except ClientError as error:
            if code_of(error) != _GONE:
                raise
            self._create(scope, request)

    def _create(self, scope: Scope, request: CreateScheduleInputTypeDef) -> None:
        """Create a schedule, with its group where it is the first; change one that is there."""
        client = self._client()
        try:
            client.create_schedule(**request)
        except ClientError as error:
            if code_of(error) == _THERE:
                client.update_schedule(**request)
            elif code_of(error) == _GONE:
                self._create_group(scope)
                client.create_schedule(**request)
            else:
                raise

    def _create_group(self, scope: Scope) -> None:
        try:
            self._client().create_schedule_group(Name=self._group(scope))
        except ClientError as error:
            if code_of(error) != _THERE:
                raise

    def _request(
        self, scope: Scope, workflow: WorkflowId, planned: Planned, now: datetime
    ) -> CreateScheduleInputTypeDef:
        target = self._target
        request: CreateScheduleInputTypeDef = {
            "GroupName": self._group(scope),
            "Name": planned.name,
            "ScheduleExpression": planned.text,
            "ScheduleExpressionTimezone": planned.zone,
            "FlexibleTimeWindow": {"Mode": "OFF"},
            "State": "ENABLED",
            "ActionAfterCompletion": "DELETE" if planned.once else "NONE",
            "Target": {
                "Arn": target.function,
                "RoleArn": target.role,
                "Input": self.input(scope, workflow, planned),
                "RetryPolicy": {"MaximumEventAgeInSeconds": _AGE, "MaximumRetryAttempts": _TRIES},
            },
        }
        if target.undelivered:
            request["Target"]["DeadLetterConfig"] = {"Arn": target.undelivered}
        start = planned.expression.start(now)
        if start is not None:
            request["StartDate"] = start
        return request

    def _group(self, scope: Scope) -> str:
        return group_of(self._target.prefix, scope.mandate)

    def _check(self, scope: Scope, name: str) -> None:
        if not name.startswith(prefix_of(scope.mandate)):
            raise NotFound(f"there is no schedule {name} here")
