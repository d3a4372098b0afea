"""Publishing: check, compile, create the state machines, then one write that changes all states.

Machines come before that write, and what was written before it is found again: whatever dies in
between, publishing once more completes it and makes nothing twice.
"""

from __future__ import annotations

from collections.abc import Callable

from stellwerk.kernel.ids import WorkflowId
from stellwerk.tenancy.access import Verb
from stellwerk.tenancy.scope import Scope, require, require_operation
from stellwerk.workflows.drafting import Drafting
from stellwerk.workflows.faults import InvalidGraph, errors
from stellwerk.workflows.foundry import Foundry
from stellwerk.workflows.graph import Graph, graph_hash
from stellwerk.workflows.lifecycle import VersionEvent, return_event, version_after
from stellwerk.workflows.model import Version, VersionStatus, Workflow
from stellwerk.workflows.naming import check_slug, slug_of
from stellwerk.workflows.press import VERSIONS, Press, check_seen

PUBLISH = "publish"
LONGEST_NOTE = 2000


class Publishing(Drafting):
    """Moves versions from state to state. Runs stay on the version with which they began."""

    def __init__(self, press: Press) -> None:
        super().__init__(press)
        self._foundry = Foundry(press)

    def publish(
        self, scope: Scope, graph: Graph, *, slug: str | None = None, title: str | None = None
    ) -> tuple[Workflow, Version]:
        """Publish a graph as the newest version of the workflow called `slug`, made if need be.

        A graph that means what a version of it means is that version again. Without a slug, title
        or the graph's own title name it. Raises InvalidGraph with all faults, BadInput for a bad
        slug or a graph that is too large, Conflict if someone else publishes it at that moment.
        """
        slug = check_slug(slug) if slug else slug_of(title or graph.title)
        found = self._versions.find(scope, slug)
        with self._audit.act(scope, "version.publish", f"slug:{slug}") as act:
            self._may_publish(scope, found)
            self._check(scope, graph, itself=slug)
            if found is None:
                found = self._first(scope, graph, slug, title or graph.title or slug)
            version = self._meaning(scope, found, graph)
            act.object(f"version:{found.id}/{version.number}")
            act.before(version)
            if version.number == found.published:
                self._arm(scope, found.id)
                return found, version
            moved, published = self._enter(scope, found, version)
            act.after(published)
            self._arm(scope, found.id)
        return moved, published

    def publish_version(
        self,
        scope: Scope,
        workflow: WorkflowId,
        number: int,
        revision: int | None = None,
        note: str = "",
    ) -> tuple[Workflow, Version]:
        """Publish a draft; the version that was published is archived in the same write.

        Raises InvalidGraph with all faults, Stale where the draft is stored at another revision
        than the caller had seen, Conflict where its state does not allow it.
        """
        return self._come(
            scope, workflow, number, lambda _: VersionEvent.PUBLISH, revision=revision, note=note
        )

    def republish(
        self, scope: Scope, workflow: WorkflowId, number: int, revision: int | None = None
    ) -> tuple[Workflow, Version]:
        """Publish an archived version again, its machines made anew where they are gone."""
        return self._come(
            scope, workflow, number, lambda _: VersionEvent.REPUBLISH, revision=revision
        )

    def roll_back(
        self, scope: Scope, workflow: WorkflowId, number: int
    ) -> tuple[Workflow, Version]:
        """Make a version that was published before the published one again, as it is."""
        return self._come(scope, workflow, number, return_event)

    def unpublish(
        self, scope: Scope, workflow: WorkflowId, number: int, revision: int | None = None
    ) -> tuple[Workflow, Version]:
        """Make the published version a draft again; its runs go on, nothing new starts."""
        return self._leave(scope, workflow, number, VersionEvent.UNPUBLISH, revision)

    def archive(
        self, scope: Scope, workflow: WorkflowId, number: int, revision: int | None = None
    ) -> tuple[Workflow, Version]:
        """Archive the published version; its runs go on, nothing new starts."""
        return self._leave(scope, workflow, number, VersionEvent.ARCHIVE, revision)

    def _come(
        self,
        scope: Scope,
        workflow: WorkflowId,
        number: int,
        event: Callable[[Version], VersionEvent],
        *,
        revision: int | None = None,
        note: str | None = None,
    ) -> tuple[Workflow, Version]:
        """Let a version become the published one."""
        found = self._workflow(scope, workflow)
        version = self._version(scope, found, number)
        with self._audit.act(scope, "version.publish", f"version:{workflow}/{number}") as act:
            self._may_publish(scope, found)
            check_seen(version, revision, f"Version {number}")
            version_after(version, event(version))
            act.before(version)
            self._check(scope, self._graph(scope, version), itself=found.slug)
            noted = {} if note is None else {"note": note.strip()[:LONGEST_NOTE]}
            moved, published = self._enter(scope, found, version.model_copy(update=noted))
            act.after(published)
            self._arm(scope, workflow)
        return moved, published

    def _leave(
        self,
        scope: Scope,
        workflow: WorkflowId,
        number: int,
        event: VersionEvent,
        revision: int | None,
    ) -> tuple[Workflow, Version]:
        """Let a version no longer be the published one; its machines go when no run needs them."""
        found = self._workflow(scope, workflow)
        version = self._version(scope, found, number)
        with self._audit.act(scope, f"version.{event}", f"version:{workflow}/{number}") as act:
            self._may_publish(scope, found)
            check_seen(version, revision, f"Version {number}")
            act.before(version)
            left = self._left(version, event)
            unnamed = found.model_copy(update={"published": None})
            moved = self._versions.move(scope, unnamed, left)
            stored = _written(left)
            act.after(stored)
            self._arm(scope, workflow)
        return moved, stored

    def _may_publish(self, scope: Scope, workflow: Workflow | None) -> None:
        if workflow is None:
            self._may_create(scope)
        else:
            require(scope, VERSIONS, Verb.UPDATE, workflow.created_by)
        require_operation(scope, PUBLISH)

    def _check(self, scope: Scope, graph: Graph, *, itself: str) -> None:
        faults = self._faults(scope, graph, itself=itself)
        if errors(faults):
            raise InvalidGraph(faults, graph=graph)

    def _first(self, scope: Scope, graph: Graph, slug: str, title: str) -> Workflow:
        workflow = self._new_workflow(scope, title)
        return self._begin(scope, workflow, [self._draft(scope, workflow, graph)], slug)

    def _meaning(self, scope: Scope, workflow: Workflow, graph: Graph) -> Version:
        """Return the version that means what `graph` means; a new draft if there is none."""
        meant = graph_hash(graph)
        known = self._versions.published_as(scope, workflow.id, meant)
        if known is not None:
            return self._versions.get(scope, workflow.id, known)
        latest = self._versions.get(scope, workflow.id, workflow.latest)
        if latest.fresh and latest.graph_hash == meant:
            return latest
        return self._derive(scope, latest, graph)

    def _enter(
        self, scope: Scope, workflow: Workflow, version: Version
    ) -> tuple[Workflow, Version]:
        """Make the machines, then publish `version` and archive the one before, at once."""
        now = self._press.clock.now()
        entered = self._foundry.ready(scope, workflow, version).model_copy(
            update={
                "status": VersionStatus.PUBLISHED,
                "retiring": None,
                "published_at": now,
                "published_by": scope.user,
                "first_published": version.first_published or now,
            }
        )
        current = self._versions.workflow(scope, workflow.id)
        before = current.published if current.published != version.number else None
        others = [self._archived(scope, current.id, before)] if before else []
        named = current.model_copy(update={"published": version.number})
        moved = self._versions.move(scope, named, entered, *others)
        return moved, _written(entered)

    def _archived(self, scope: Scope, workflow: WorkflowId, number: int) -> Version:
        return self._left(self._versions.get(scope, workflow, number), VersionEvent.ARCHIVE)

    def _left(self, version: Version, event: VersionEvent) -> Version:
        after = version_after(version, event)
        now = self._press.clock.now()
        return version.model_copy(update={"status": after, "retiring": now})


def _written(version: Version) -> Version:
    return version.model_copy(update={"revision": version.revision + 1})
