"""Carrying workflows from one place to another: a document with their settings and versions.

A document names no user and no tenant, so it can be kept under version control and read anywhere.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime
from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field

from stellwerk.kernel.errors import BadInput
from stellwerk.kernel.ids import WorkflowId
from stellwerk.kernel.json import TEXTUAL, JsonObject, Whole
from stellwerk.tenancy.scope import Scope, require_operation
from stellwerk.workflows.drafting import Drafting
from stellwerk.workflows.faults import Fault
from stellwerk.workflows.graph import Graph
from stellwerk.workflows.model import (
    MOST_TAGS,
    Concurrency,
    Retention,
    Version,
    VersionStatus,
    Workflow,
)
from stellwerk.workflows.naming import SLUG_PATTERN
from stellwerk.workflows.settings import Tag, Title

EXPORT, IMPORT = "export", "import"
MOST_VERSIONS = 40
"""Versions that an import takes: they are written at once."""
_PAGE = 100


class _Carried(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid", populate_by_name=True)


class CarriedVersion(_Carried):
    """A version in a document; where it stood and when it was made are told, not taken over."""

    number: Whole = Field(ge=1)
    status: VersionStatus = VersionStatus.DRAFT
    created: Annotated[datetime, TEXTUAL] | None = None
    note: str = Field(default="", max_length=2000)
    graph: Graph


class Document(_Carried):
    """`stellwerk/workflow@1`: a workflow with its settings and versions, the oldest first."""

    schema_: Literal["stellwerk/workflow@1"] = Field(default="stellwerk/workflow@1", alias="schema")
    title: Title
    slug: str = Field(pattern=SLUG_PATTERN)
    tags: tuple[Tag, ...] = Field(default=(), max_length=MOST_TAGS)
    vars: JsonObject = Field(default_factory=dict)
    concurrency: Concurrency = Concurrency()
    retention: Retention = Retention()
    versions: tuple[CarriedVersion, ...] = Field(min_length=1)


@dataclass(frozen=True)
class Imported:
    """What an import has made: drafts only, by the numbers that they have here, with faults."""

    workflow: Workflow
    versions: tuple[Version, ...]
    faults: dict[int, tuple[Fault, ...]]


class Carrying(Drafting):
    """Exports and imports."""

    def export(self, scope: Scope, workflow: WorkflowId) -> Document:
        """Return a workflow with all its versions."""
        found = self._workflow(scope, workflow)
        with self._audit.act(scope, "workflow.export", f"workflow:{workflow}") as act:
            require_operation(scope, EXPORT)
            document = self._document(scope, found)
            act.before(found)
        return document

    def import_(self, scope: Scope, document: Document) -> Imported:
        """Begin a workflow with the document's versions, all of them drafts, written at once.

        Its slug is the document's, with a number where that is taken. Faulty graphs are taken as
        well: their faults are returned. Raises BadInput for more versions than an import takes.
        """
        if len(document.versions) > MOST_VERSIONS:
            raise BadInput(
                f"The document has {len(document.versions)} versions; an import takes "
                f"{MOST_VERSIONS}.",
                remedy="Leave out old versions.",
            )
        with self._audit.act(scope, "workflow.import") as act:
            require_operation(scope, IMPORT)
            self._may_create(scope)
            begun = self._begun(scope, document)
            drafts = [*self._drafts(scope, begun, document)]
            created = self._begin(scope, begun, drafts, None)
            act.object(f"workflow:{created.id}")
            act.after(created)
        written = [self._versions.get(scope, created.id, draft.number) for draft in drafts]
        return Imported(created, tuple(written), self._all_faults(scope, created, document))

    def _document(self, scope: Scope, workflow: Workflow) -> Document:
        versions = [
            CarriedVersion(
                number=version.number,
                status=version.status,
                created=version.created,
                note=version.note,
                graph=self._graph(scope, version),
            )
            for version in self._every_version(scope, workflow.id)
        ]
        return Document(
            title=workflow.title,
            slug=workflow.slug,
            tags=workflow.tags,
            vars=workflow.vars,
            concurrency=workflow.concurrency,
            retention=workflow.retention,
            versions=tuple(reversed(versions)),
        )

    def _every_version(self, scope: Scope, workflow: WorkflowId) -> Iterator[Version]:
        cursor: str | None = None
        while True:
            page = self._versions.versions(scope, workflow, cursor=cursor, limit=_PAGE)
            yield from page.items
            cursor = page.cursor
            if cursor is None:
                return

    def _begun(self, scope: Scope, document: Document) -> Workflow:
        return self._new_workflow(scope, document.title).model_copy(
            update={
                "slug": document.slug,
                "tags": tuple(dict.fromkeys(document.tags)),
                "vars": document.vars,
                "concurrency": document.concurrency,
                "retention": document.retention,
            }
        )

    def _drafts(self, scope: Scope, workflow: Workflow, document: Document) -> Iterator[Version]:
        for number, carried in enumerate(document.versions, 1):
            draft = self._draft(scope, workflow, carried.graph, number=number)
            yield draft.model_copy(update={"note": carried.note})

    def _all_faults(
        self, scope: Scope, workflow: Workflow, document: Document
    ) -> dict[int, tuple[Fault, ...]]:
        found = {
            number: tuple(self._faults(scope, carried.graph, itself=workflow.slug))
            for number, carried in enumerate(document.versions, 1)
        }
        return {number: faults for number, faults in found.items() if faults}
