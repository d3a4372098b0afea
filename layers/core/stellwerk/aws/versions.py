"""Workflows and their versions."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TypeVar

from stellwerk.aws import keys, listing, workflow_keys
from stellwerk.aws.bodies import Bodies
from stellwerk.aws.errors import Refused
from stellwerk.aws.expressions import Delete, Item, Put, Term, Write, absent, equals
from stellwerk.aws.items import Items, Range
from stellwerk.aws.workflow_lists import WorkflowLists, listed
from stellwerk.kernel.errors import Conflict, NotFound
from stellwerk.kernel.ids import WorkflowId
from stellwerk.kernel.pages import Page
from stellwerk.kernel.records import Record
from stellwerk.tenancy.scope import Scope
from stellwerk.workflows.model import Version, VersionStatus, Workflow
from stellwerk.workflows.ports import SharedWorkflow, Wanted

R = TypeVar("R", bound=Record)


class DynamoVersions:
    """Workflows on the table `platform`. Requests: 1 each; find and pages of workflows 2."""

    def __init__(self, items: Items, bodies: Bodies) -> None:
        self._items = items
        self._bodies = bodies
        self._lists = WorkflowLists(items, bodies)

    def create(self, scope: Scope, workflow: Workflow, *versions: Version) -> Workflow:
        """Write a new workflow with its first versions; Conflict where its slug is taken."""
        entry = {"workflow": workflow.id, "instance": scope.instance}
        slug = Put(keys.slug(scope, workflow.slug), entry, when=(absent(),))
        writes = [slug, self._workflow(scope, workflow), *listed(scope, None, workflow)]
        begun = [write for version in versions for write in self._version(scope, version)]
        try:
            self._items.transact([*writes, *begun])
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
            raise NotFound(
                f"there is no workflow {workflow}",
                remedy="Look at the list of workflows: the id is needed here.",
            )
        return self._bodies.record(scope, item, Workflow)

    def find(self, scope: Scope, slug: str) -> Workflow | None:
        """Return the workflow with that slug."""
        entry = self._items.get(keys.slug(scope, slug)) if slug else None
        return self.workflow(scope, WorkflowId(str(entry["workflow"]))) if entry else None

    def workflows(
        self, scope: Scope, wanted: Wanted, *, cursor: str | None, limit: int
    ) -> Page[Workflow]:
        """Return a page of the wanted workflows."""
        return self._lists.page(scope, wanted, cursor=cursor, limit=limit)

    def shared(self, scope: Scope, *, cursor: str | None, limit: int) -> Page[SharedWorkflow]:
        """Return a page of what the mandate's instances share, by slug."""
        return self._lists.shared(scope, cursor=cursor, limit=limit)

    def change(self, scope: Scope, before: Workflow, after: Workflow) -> Workflow:
        """Write `after` in place of `before`, and where lists find it."""
        writes = [self._workflow(scope, after), *listed(scope, before, after)]
        self._transact(writes, f"workflow '{after.slug}'")
        return _next(after)

    def add(self, scope: Scope, workflow: Workflow, version: Version) -> tuple[Workflow, Version]:
        """Write a new version and the workflow that names it as latest, at once."""
        named = workflow.model_copy(update={"latest": version.number})
        writes = [self._workflow(scope, named), *self._version(scope, version)]
        self._transact(writes, f"workflow '{named.slug}'")
        return _next(named), _next(version)

    def save(self, scope: Scope, version: Version) -> Version:
        """Write a version alone."""
        self._transact(self._version(scope, version), f"version {version.number}")
        return _next(version)

    def move(self, scope: Scope, workflow: Workflow, *versions: Version) -> Workflow:
        """Write a workflow and its versions that changed state with it, at once."""
        moved = [write for version in versions for write in self._version(scope, version)]
        writes = [self._workflow(scope, workflow), *moved]
        self._transact(writes, f"workflow '{workflow.slug}'")
        return _next(workflow)

    def get(self, scope: Scope, workflow: WorkflowId, number: int, trial: str = "") -> Version:
        """Return the version, or the draft as it was for a trial; raises NotFound."""
        item = self._items.get(_place(scope, workflow, number, trial))
        if item is None:
            raise NotFound(
                f"workflow {workflow} has no version {number}",
                remedy="Look at the list of its versions.",
            )
        return self._bodies.record(scope, item, Version)

    def versions(
        self, scope: Scope, workflow: WorkflowId, *, cursor: str | None, limit: int
    ) -> Page[Version]:
        """Return a page of a workflow's versions, the newest first."""
        partition = keys.workflow(scope, workflow).pk
        wanted = Range(partition, prefix=keys.VERSION, newest_first=True)
        found = listing.entries(self._items, wanted, cursor=cursor, limit=limit)
        whole = [self._bodies.record(scope, item, Version) for item in found.items]
        return Page(whole, found.cursor)

    def published_as(self, scope: Scope, workflow: WorkflowId, graph_hash: str) -> int | None:
        """Return the number of the version that was published last with that graph."""
        entry = self._items.get(workflow_keys.meaning(scope, workflow, graph_hash))
        return int(entry["version"]) if entry else None

    def retiring(self, scope: Scope) -> Iterator[Version]:
        """Yield the versions whose machines are to go: 2 requests per 100."""
        entries = Range(workflow_keys.retiring(scope, WorkflowId(""), 0, "").pk)
        named = [
            _place(
                scope,
                WorkflowId(str(entry["workflow"])),
                int(entry["version"]),
                str(entry.get("trial", "")),
            )
            for entry in self._items.query(entries)
        ]
        found = self._items.batch(named)
        yield from (self._bodies.record(scope, found[key], Version) for key in named)

    def _transact(self, writes: Sequence[Write], what: str) -> None:
        try:
            self._items.transact(writes)
        except Refused as refused:
            raise Conflict(
                f"{what} has changed meanwhile", remedy="Read it again and repeat the change."
            ) from refused

    def _workflow(self, scope: Scope, workflow: Workflow) -> Write:
        item = self._bodies.item(scope, workflow, f"workflows/{workflow.id}")
        return Put(keys.workflow(scope, workflow.id), item, when=_unchanged(workflow))

    def _version(self, scope: Scope, version: Version) -> Sequence[Write]:
        """Return the writes of a version with what finds it."""
        item = self._bodies.item(scope, version, f"workflows/{version.workflow}")
        key = _place(scope, version.workflow, version.number, version.trial)
        record = Put(key, item, when=_unchanged(version))
        alone = version.fresh and not version.trial
        return [record] if alone else [record, *_found_by(scope, version)]


def _place(scope: Scope, workflow: WorkflowId, number: int, trial: str) -> keys.Key:
    if trial:
        return workflow_keys.trial(scope, workflow, number, trial)
    return keys.version(scope, workflow, number)


def _found_by(scope: Scope, version: Version) -> Iterator[Write]:
    entry: Item = {"workflow": version.workflow, "version": version.number}
    place = workflow_keys.retiring(scope, version.workflow, version.number, version.trial)
    if version.trial:
        entry["trial"] = version.trial
    yield Put(place, entry) if version.retiring else Delete(place)
    if version.status is VersionStatus.PUBLISHED:
        meaning = workflow_keys.meaning(scope, version.workflow, version.graph_hash)
        yield Put(meaning, entry)


def _unchanged(record: Record) -> tuple[Term, ...]:
    return (equals("revision", record.revision) if record.revision else absent(),)


def _next(record: R) -> R:
    return record.model_copy(update={"revision": record.revision + 1})
