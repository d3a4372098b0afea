"""Versions of workflows: their graphs and their lives."""

from __future__ import annotations

from datetime import datetime
from typing import Annotated, Literal

from pydantic import ConfigDict, Field

from api.models.base import Body, PageOf, Shown
from api.models.graphs import Fault
from stellwerk.kernel.json import NUMERIC, JsonObject
from stellwerk.workflows import model as stored
from stellwerk.workflows.graph import Graph

Number = Annotated[int, Field(ge=1, le=99_999_999), NUMERIC]
_VERSION: JsonObject = {
    "workflow": "01kb2c3d4e5f6g7h8j9k0m1n2a",
    "number": 4,
    "status": "draft",
    "graph_hash": "0c5f9c2e77d4f0e4c0b0d3a0a3f9a7c1e2b3d4f5a6b7c8d9e0f1a2b3c4d5e6f7",
    "author": "u-demo",
    "created": "2026-12-01T08:00:00Z",
    "saved": "2026-12-01T08:12:00Z",
    "based_on": 3,
    "note": "",
    "editable": True,
    "first_published": None,
    "published_at": None,
    "published_by": None,
    "retiring": None,
    "etag": '"2"',
}


class Version(Shown):
    """A version of a workflow."""

    model_config = ConfigDict(json_schema_extra={"example": _VERSION})

    workflow: str
    number: int
    status: Literal["draft", "published", "archived"]
    graph_hash: str = Field(description="Equal for graphs that mean the same")
    author: str
    created: datetime
    saved: datetime | None = Field(description="When its graph was last changed")
    based_on: int | None = Field(description="The version from which it was made")
    note: str
    editable: bool = Field(description="Whether it can be saved in place: never published")
    first_published: datetime | None
    published_at: datetime | None
    published_by: str | None
    retiring: datetime | None = Field(description="Since when nothing new starts on it")
    etag: str = Field(description="For If-Match, as in the header ETag")

    @classmethod
    def of(cls, version: stored.Version) -> Version:
        """Show a version without its graph."""
        return cls(
            workflow=version.workflow,
            number=version.number,
            status=version.status.value,
            graph_hash=version.graph_hash,
            author=version.author,
            created=version.created,
            saved=version.saved,
            based_on=version.based_on,
            note=version.note,
            editable=version.fresh,
            first_published=version.first_published,
            published_at=version.published_at,
            published_by=version.published_by,
            retiring=version.retiring,
            etag=f'"{version.revision}"',
        )


class Draft(Version):
    """A version with its graph."""

    model_config = ConfigDict(
        json_schema_extra={
            "example": {
                **_VERSION,
                "graph": {
                    "schema": "stellwerk/graph@1",
                    "title": "Invoice approval",
                    "nodes": [{"key": "start", "type": "trigger.manual"}],
                    "edges": [],
                },
            }
        }
    )

    graph: Graph

    @classmethod
    def with_graph(cls, version: stored.Version, graph: Graph) -> Draft:
        """Show a version with its graph."""
        return cls(**dict(Version.of(version)), graph=graph)


class SavedDraft(Shown):
    """A version that was saved, and what is wrong with its graph."""

    version: Version
    faults: list[Fault]


class VersionPage(PageOf[Version]):
    """A page of versions, the newest first."""


class NewDraft(Body):
    """The version from which a draft is made."""

    model_config = ConfigDict(json_schema_extra={"example": {"from": 3}})

    source: Number | None = Field(
        default=None, alias="from", description="Else the published version, else the newest"
    )


class Publish(Body):
    """What to say about the version."""

    model_config = ConfigDict(json_schema_extra={"example": {"note": "Limit raised to 1,500"}})

    note: str = Field(default="", max_length=2000)
