"""Workflows and their versions."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeVar

from stellwerk.aws import keys, listing
from stellwerk.aws.bodies import Bodies
from stellwerk.aws.errors import Refused
from stellwerk.aws.expressions import Put, Term, absent, equals
from stellwerk.aws.items import Items, Range
from stellwerk.kernel.errors import Conflict, NotFound
from stellwerk.kernel.ids import WorkflowId
from stellwerk.kernel.pages import Page
from stellwerk.kernel.records import Record
from stellwerk.tenancy.scope import Scope
from stellwerk.workflows.model import Version, VersionStatus, Workflow

R = TypeVar("R", bound=Record)


class DynamoVersions:
    """Workflows on the table `platform`. Requests: 1 each; find and a page of workflows 2."""

    def __init__(self, items: Items, bodies: Bodies) -> None:
        self._items = items
        self._bodies = bodies

    def create(self, scope: Scope, workflow: Workflow) -> Workflow:
        """Write a new workflow; raises Conflict where its slug is taken."""
        slug = Put(keys.slug(scope, workflow.slug), {"workflow": workflow.id}, when=(absent(),))
        try:
            self._items.transact([slug, self._workflow(scope, workflow)])
        except Refused as refused:
            raise Conflict(
                f"a workflow called '{workflow.slug}' exists already",
                remedy="Choose another slug, or publish a version of that workflow.",
            ) from refused
        return _next(workflow)

    def workflow(self, scope: Scope, workflow: WorkflowId) -> Workflow:
        """Return the workflow; raises NotFound."""
        item = self._items.get(keys.workflow(scope, workflow))
        if item is None:
            raise NotFound(f"there is no workflow {workflow}")
        return self._bodies.record(scope, item, Workflow)

    def find(self, scope: Scope, slug: str) -> Workflow | None:
        """Return the workflow with that slug."""
        entry = self._items.get(keys.slug(scope, slug)) if slug else None
        return self.workflow(scope, WorkflowId(str(entry["workflow"]))) if entry else None

    def workflows(
        self, scope: Scope, *, cursor: str | None = None, limit: int = 50
    ) -> Page[Workflow]:
        """Return a page of workflows, by slug."""
        slugs = Range(keys.slug(scope, "").pk)
        found = listing.entries(self._items, slugs, cursor=cursor, limit=limit)
        places = [keys.workflow(scope, WorkflowId(str(entry["workflow"]))) for entry in found.items]
        items = self._items.batch(places)
        whole = [self._bodies.record(scope, items[place], Workflow) for place in places]
        return Page(whole, found.cursor)

    def add(self, scope: Scope, workflow: Workflow, version: Version) -> tuple[Workflow, Version]:
        """Write a new version and the workflow that names it as latest, at once."""
        named = workflow.model_copy(update={"latest": version.number})
        self._transact([self._workflow(scope, named), self._version(scope, version)], named)
        return _next(named), _next(version)

    def get(self, scope: Scope, workflow: WorkflowId, number: int) -> Version:
        """Return the version; raises NotFound."""
        item = self._items.get(keys.version(scope, workflow, number))
        if item is None:
            raise NotFound(f"workflow {workflow} has no version {number}")
        return self._bodies.record(scope, item, Version)

    def versions(self, scope: Scope, workflow: WorkflowId) -> Sequence[Version]:
        """Return all versions of a workflow, the newest first."""
        partition = keys.workflow(scope, workflow).pk
        wanted = Range(partition, prefix=keys.VERSION, newest_first=True)
        return [self._bodies.record(scope, item, Version) for item in self._items.query(wanted)]

    def publish(
        self, scope: Scope, workflow: Workflow, version: Version, before: Version | None
    ) -> Workflow:
        """Write `version` as published, `before` as archived, and the workflow, at once."""
        named = workflow.model_copy(update={"published": version.number})
        published = version.model_copy(update={"status": VersionStatus.PUBLISHED})
        writes = [self._workflow(scope, named), self._version(scope, published)]
        if before is not None:
            archived = before.model_copy(update={"status": VersionStatus.ARCHIVED})
            writes.append(self._version(scope, archived))
        self._transact(writes, named)
        return _next(named)

    def _transact(self, writes: Sequence[Put], workflow: Workflow) -> None:
        try:
            self._items.transact(writes)
        except Refused as refused:
            raise Conflict(
                f"workflow '{workflow.slug}' has changed meanwhile",
                remedy="Read it again and repeat the change.",
            ) from refused

    def _workflow(self, scope: Scope, workflow: Workflow) -> Put:
        item = self._bodies.item(scope, workflow, f"workflows/{workflow.id}")
        return Put(keys.workflow(scope, workflow.id), item, when=_unchanged(workflow))

    def _version(self, scope: Scope, version: Version) -> Put:
        item = self._bodies.item(scope, version, f"workflows/{version.workflow}")
        key = keys.version(scope, version.workflow, version.number)
        return Put(key, item, when=_unchanged(version))


def _unchanged(record: Record) -> tuple[Term, ...]:
    return (equals("revision", record.revision) if record.revision else absent(),)


def _next(record: R) -> R:
    return record.model_copy(update={"revision": record.revision + 1})
