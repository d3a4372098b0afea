"""Where lists find a workflow: entries beside it, written with it, each naming its id.

Entries follow from the record alone, so a change writes the difference of two records' entries.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from stellwerk.aws import keys, listing, workflow_keys
from stellwerk.aws.bodies import Bodies
from stellwerk.aws.expressions import Delete, Item, Put, Write
from stellwerk.aws.items import Items, Range
from stellwerk.aws.keys import Key
from stellwerk.kernel.ids import InstanceId, WorkflowId
from stellwerk.kernel.pages import Page
from stellwerk.tenancy.scope import Scope
from stellwerk.workflows.model import Workflow
from stellwerk.workflows.naming import words_of
from stellwerk.workflows.ports import SharedWorkflow, Wanted


def listed(scope: Scope, before: Workflow | None, after: Workflow) -> list[Write]:
    """Return the writes after which lists find `after` where they found `before`."""
    old = set(_places(scope, before)) if before else set()
    new = set(_places(scope, after))
    entry: Item = {"workflow": after.id, "instance": scope.instance}
    return [
        *(Delete(place) for place in sorted(old - new, key=_order)),
        *(Put(place, entry) for place in sorted(new - old, key=_order)),
    ]


class WorkflowLists:
    """Reads lists of workflows. Requests: 2 a page, of the shared ones 2."""

    def __init__(self, items: Items, bodies: Bodies) -> None:
        self._items = items
        self._bodies = bodies

    def page(
        self, scope: Scope, wanted: Wanted, *, cursor: str | None, limit: int
    ) -> Page[Workflow]:
        """Return a page of the wanted workflows; short by those that do not fit altogether."""
        found = listing.entries(self._items, _range(scope, wanted), cursor=cursor, limit=limit)
        whole = (each.workflow for each in self._whole(scope, found.items))
        return Page([workflow for workflow in whole if wanted.fits(workflow)], found.cursor)

    def shared(self, scope: Scope, *, cursor: str | None, limit: int) -> Page[SharedWorkflow]:
        """Return a page of what the mandate's instances share, by slug."""
        wanted = Range(workflow_keys.shared(scope, "", WorkflowId("")).pk)
        found = listing.entries(self._items, wanted, cursor=cursor, limit=limit)
        whole = self._whole(scope, found.items)
        return Page([each for each in whole if each.workflow.shared], found.cursor)

    def _whole(self, scope: Scope, entries: Sequence[Item]) -> Iterator[SharedWorkflow]:
        """Yield the workflows that entries name, as they are now."""
        places = [
            (InstanceId(str(entry["instance"])), WorkflowId(str(entry["workflow"])))
            for entry in entries
        ]
        named = [(at, keys.workflow(scope.at(at), workflow)) for at, workflow in places]
        items = self._items.batch([key for _, key in named])
        for at, key in named:
            if key in items:
                record = self._bodies.record(scope.at(at), items[key], Workflow)
                yield SharedWorkflow(at, record)


def _range(scope: Scope, wanted: Wanted) -> Range:
    if wanted.tag:
        return Range(workflow_keys.listed(scope, "", owner=wanted.owner, tag=wanted.tag).pk)
    if wanted.words:
        first = workflow_keys.word(scope, max(wanted.words, key=len), owner=wanted.owner)
        return Range(first.pk, prefix=first.sk)
    return Range(workflow_keys.listed(scope, "", owner=wanted.owner).pk)


def _places(scope: Scope, workflow: Workflow) -> Iterator[Key]:
    """Yield all keys of a workflow in lists, save its slug's own, which never changes."""
    slug = workflow.slug
    yield workflow_keys.listed(scope, slug, owner=workflow.created_by)
    for owner in (None, workflow.created_by):
        for tag in workflow.tags:
            yield workflow_keys.listed(scope, slug, owner=owner, tag=tag)
        for word in words_of(slug, workflow.title):
            yield workflow_keys.word(scope, word, slug, owner=owner)
    if workflow.shared:
        yield workflow_keys.shared(scope, slug, workflow.id)


def _order(key: Key) -> tuple[str, str]:
    return key.pk, key.sk
