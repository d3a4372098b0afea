"""Workflows and their versions, as stored."""

from __future__ import annotations

from datetime import datetime
from enum import StrEnum

from pydantic import Field

from stellwerk.kernel.ids import UserId, WorkflowId
from stellwerk.kernel.json import JsonObject
from stellwerk.kernel.records import Record, Stored


class Workflow(Record):
    """What people call a workflow; its versions hold the graphs."""

    id: WorkflowId
    title: str
    slug: str
    created_by: UserId
    created: datetime
    latest: int = 0
    published: int | None = None
    vars: JsonObject = Field(default_factory=dict)


class VersionStatus(StrEnum):
    """Where a version stands."""

    DRAFT = "draft"
    PUBLISHED = "published"
    ARCHIVED = "archived"


class Version(Record):
    """One graph of a workflow; immutable once published. `graph` is exact, in S3 when large."""

    workflow: WorkflowId
    number: int
    status: VersionStatus
    graph: Stored
    graph_hash: str
    author: UserId
    created: datetime
    machines: dict[str, str] = Field(default_factory=dict)
    """State machine ARNs: "" is the workflow's own, others by the loop whose chunks they run."""
    plan: JsonObject = Field(default_factory=dict)
    """What the compiler tells the step wrapper: which steps to look at gates after."""
