"""Workflows: what they are besides their graphs."""

from __future__ import annotations

from datetime import datetime
from typing import Annotated

from pydantic import ConfigDict, Field

from api.models.base import Body, Label, PageOf, Shown
from api.models.graphs import Fault
from api.models.versions import Version
from stellwerk.kernel.ids import InstanceId, UserId
from stellwerk.kernel.json import JsonObject
from stellwerk.workflows import model as stored
from stellwerk.workflows.graph import Graph
from stellwerk.workflows.model import Concurrency, Retention
from stellwerk.workflows.naming import SLUG_PATTERN
from stellwerk.workflows.ports import SharedWorkflow
from stellwerk.workflows.settings import Changes

Tag = Annotated[str, Field(min_length=1, max_length=40)]
Slug = Annotated[str, Field(pattern=SLUG_PATTERN, examples=["invoice-approval"])]
_WORKFLOW: JsonObject = {
    "id": "01kb2c3d4e5f6g7h8j9k0m1n2a",
    "title": "Invoice approval",
    "slug": "invoice-approval",
    "owner": "u-demo",
    "created": "2026-11-30T09:00:00Z",
    "latest": 4,
    "published": 3,
    "active": True,
    "shared": False,
    "tags": ["finance"],
    "vars": {"limit": 1000},
    "concurrency": {"limit": 1, "policy": "allow"},
    "notify": ["role:finance"],
    "retention": {"successes": 30, "failures": 90, "hold": False},
    "origin": None,
}


class Origin(Shown):
    """Of which version of which workflow this one is a copy."""

    instance: str
    workflow: str
    version: int


class Workflow(Shown):
    """What people call a workflow; its versions hold the graphs."""

    model_config = ConfigDict(json_schema_extra={"example": _WORKFLOW})

    id: str
    title: str
    slug: str = Field(description="Its short name, unique in the instance")
    owner: str = Field(description="Automatic runs act for this user")
    created: datetime
    latest: int = Field(description="The newest version")
    published: int | None = Field(description="The published version")
    active: bool = Field(description="Whether its triggers start runs")
    shared: bool = Field(description="Whether the mandate's other instances may copy it")
    tags: list[str]
    vars: JsonObject = Field(description="`$vars` of its expressions")
    concurrency: Concurrency
    notify: list[str] = Field(description="Who is told of failures; nobody named: the owner")
    retention: Retention
    origin: Origin | None

    @classmethod
    def of(cls, workflow: stored.Workflow) -> Workflow:
        """Show a workflow."""
        origin = workflow.origin
        return cls(
            id=workflow.id,
            title=workflow.title,
            slug=workflow.slug,
            owner=workflow.created_by,
            created=workflow.created,
            latest=workflow.latest,
            published=workflow.published,
            active=workflow.active,
            shared=workflow.shared,
            tags=list(workflow.tags),
            vars=workflow.vars,
            concurrency=workflow.concurrency,
            notify=list(workflow.notify),
            retention=workflow.retention,
            origin=Origin(**origin.model_dump()) if origin else None,
        )


class WorkflowPage(PageOf[Workflow]):
    """A page of workflows, by short name."""


class Shared(Shown):
    """A workflow that may be copied, and the instance that shows it."""

    instance: str
    workflow: Workflow

    @classmethod
    def of(cls, found: SharedWorkflow) -> Shared:
        """Show what an instance shares."""
        return cls(instance=found.instance, workflow=Workflow.of(found.workflow))


class SharedPage(PageOf[Shared]):
    """A page of what the mandate's instances share."""


class NewWorkflow(Body):
    """A workflow to begin."""

    model_config = ConfigDict(
        json_schema_extra={
            "example": {
                "title": "Invoice approval",
                "graph": {
                    "title": "Invoice approval",
                    "nodes": [{"key": "start", "type": "trigger.manual"}],
                    "edges": [],
                },
            }
        }
    )

    title: Label
    slug: Slug | None = Field(default=None, description="Its short name; else made of the title")
    graph: Graph | None = Field(default=None, description="The first draft, which may be faulty")


class Begun(Shown):
    """A workflow that was begun, with its first draft and what is wrong with that."""

    workflow: Workflow
    draft: Version
    faults: list[Fault]


class WorkflowChanges(Body):
    """New settings; what is not given stays as it is."""

    model_config = ConfigDict(
        json_schema_extra={"example": {"title": "Invoice approval", "tags": ["finance"]}}
    )

    title: Label | None = None
    tags: Annotated[list[Tag], Field(max_length=stored.MOST_TAGS)] | None = None
    vars: JsonObject | None = None
    concurrency: Concurrency | None = None
    notify: (
        Annotated[list[Annotated[str, Field(min_length=1, max_length=254)]], Field(max_length=20)]
        | None
    ) = None
    retention: Retention | None = None

    @property
    def changes(self) -> Changes:
        """The changes, as the service takes them."""
        return Changes.model_validate(self.model_dump(exclude_unset=True))


class Transfer(Body):
    """Whose the workflow is to be."""

    model_config = ConfigDict(json_schema_extra={"example": {"owner": "u-demo-user"}})

    owner: Annotated[UserId, Field(pattern=r"^[A-Za-z0-9_-]{1,64}$")]


class CopyFrom(Body):
    """Which instance shows the workflow that is to be copied."""

    model_config = ConfigDict(json_schema_extra={"example": {"instance": "i-demo"}})

    instance: Annotated[InstanceId, Field(pattern=r"^[A-Za-z0-9_-]{1,64}$")]


class ImportReport(Shown):
    """What an import has made: drafts only."""

    workflow: Workflow
    versions: list[Version]
    faults: dict[str, list[Fault]] = Field(description="What is wrong, by number of the version")
