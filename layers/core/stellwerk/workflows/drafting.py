"""Drafts: begun, saved as often as people like, faulty or not; nothing runs by a save."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from stellwerk.kernel.errors import BadInput, Conflict
from stellwerk.kernel.ids import WorkflowId, new_id
from stellwerk.tenancy.access import Verb
from stellwerk.tenancy.scope import Scope, require
from stellwerk.workflows.faults import Fault
from stellwerk.workflows.graph import Graph
from stellwerk.workflows.lifecycle import VersionEvent, version_after
from stellwerk.workflows.model import Version, VersionStatus, Workflow
from stellwerk.workflows.naming import LONGEST_SLUG, check_slug, slug_of
from stellwerk.workflows.press import VERSIONS, WORKFLOWS, Room, again, check_seen

LONGEST_TITLE = 200
_NAMESAKES = 50


class Drafting(Room):
    """Begins workflows and edits versions."""

    def create(
        self, scope: Scope, title: str, slug: str | None = None, graph: Graph | None = None
    ) -> tuple[Workflow, Version]:
        """Begin a workflow with its first draft, empty or of `graph`, which may be faulty.

        Without a slug the title names it, with a number where that is taken. Raises BadInput for a
        bad title or slug, Conflict for a slug that is taken.
        """
        title = _title(title)
        with self._audit.act(scope, "workflow.create") as act:
            self._may_create(scope)
            workflow = self._new_workflow(scope, title)
            draft = self._draft(scope, workflow, graph or Graph())
            created = self._begin(scope, workflow, [draft], slug)
            act.object(f"workflow:{created.id}")
            act.after(created)
        return created, self._versions.get(scope, created.id, draft.number)

    def draft(self, scope: Scope, workflow: WorkflowId) -> Version:
        """Return the newest draft that can be edited in place, else the newest version."""
        found = self._workflow(scope, workflow)
        latest = self._version(scope, found, found.latest)
        if latest.fresh:
            return latest
        page = self._versions.versions(scope, workflow, cursor=None, limit=20)
        return next((version for version in page.items if version.fresh), latest)

    def new_draft(
        self, scope: Scope, workflow: WorkflowId, from_number: int | None = None
    ) -> Version:
        """Make a draft from a version, without one from the published, else the newest one."""
        found = self._workflow(scope, workflow)
        source = self._version(scope, found, from_number or found.published or found.latest)
        with self._audit.act(scope, "version.create", f"workflow:{workflow}") as act:
            require(scope, VERSIONS, Verb.CREATE, found.created_by)
            version_after(source, VersionEvent.DERIVE)
            draft = self._derive(scope, source, self._graph(scope, source))
            act.object(f"version:{workflow}/{draft.number}")
            act.after(draft)
        return draft

    def save_draft(
        self, scope: Scope, workflow: WorkflowId, number: int, revision: int | None, graph: Graph
    ) -> tuple[Version, Sequence[Fault]]:
        """Save a graph, faulty or not, and return the version with all faults.

        A version that was never published is changed in place. Any other stays as it is, and the
        graph becomes a new draft: the version that is returned. Raises Stale where the version is
        stored at another revision than the caller had seen.
        """
        found = self._workflow(scope, workflow)
        before = self._version(scope, found, number)
        with self._audit.act(scope, "version.save", f"version:{workflow}/{number}") as act:
            require(scope, VERSIONS, Verb.UPDATE, found.created_by)
            check_seen(before, revision, f"Version {number}")
            act.before(before)
            saved = self._save(scope, before, graph) if before.fresh else None
            if saved is None:
                require(scope, VERSIONS, Verb.CREATE, found.created_by)
                saved = self._derive(scope, before, graph)
                act.object(f"version:{workflow}/{saved.number}")
            act.after(saved)
        return saved, self._faults(scope, graph, itself=found.slug)

    def _save(self, scope: Scope, before: Version, graph: Graph) -> Version:
        """Write a graph into a draft that was never published."""
        version_after(before, VersionEvent.EDIT)
        kept = self._kept(scope, before.workflow, graph)
        now = self._press.clock.now()
        try:
            return self._versions.save(scope, before.model_copy(update={**kept, "saved": now}))
        except Conflict:
            stored = self._versions.get(scope, before.workflow, before.number)
            check_seen(stored, before.revision, f"Version {before.number}")
            raise

    def _derive(self, scope: Scope, source: Version, graph: Graph) -> Version:
        """Add a draft of `graph` that is based on `source`; whoever adds as well gets another."""

        def attempt() -> Version:
            workflow = self._versions.workflow(scope, source.workflow)
            number = workflow.latest + 1
            draft = self._draft(scope, workflow, graph, number=number, based_on=source.number)
            return self._versions.add(scope, workflow, draft)[1]

        return again(attempt)

    def _draft(
        self,
        scope: Scope,
        workflow: Workflow,
        graph: Graph,
        *,
        number: int = 1,
        based_on: int | None = None,
    ) -> Version:
        """Return a draft, not yet written."""
        return Version.model_validate(
            {
                **self._kept(scope, workflow.id, graph),
                "workflow": workflow.id,
                "number": number,
                "status": VersionStatus.DRAFT,
                "author": scope.user,
                "created": self._press.clock.now(),
                "based_on": based_on,
            }
        )

    def _may_create(self, scope: Scope) -> None:
        require(scope, WORKFLOWS, Verb.CREATE, scope.user)
        require(scope, VERSIONS, Verb.CREATE, scope.user)

    def _new_workflow(self, scope: Scope, title: str) -> Workflow:
        """Return a workflow, not yet written and without a slug of its own."""
        now = self._press.clock.now()
        return Workflow(
            id=WorkflowId(new_id(now)),
            title=title,
            slug=slug_of(title),
            created_by=scope.user,
            created=now,
        )

    def _begin(
        self, scope: Scope, workflow: Workflow, drafts: Sequence[Version], slug: str | None
    ) -> Workflow:
        """Write a workflow with its drafts under `slug`, else under the first free one."""
        latest = workflow.model_copy(update={"latest": len(drafts)})
        if slug is not None:
            named = latest.model_copy(update={"slug": check_slug(slug)})
            return self._versions.create(scope, named, *drafts)
        for name in _namesakes(workflow.slug):
            if self._versions.find(scope, name) is None:
                named = latest.model_copy(update={"slug": name})
                return self._versions.create(scope, named, *drafts)
        raise Conflict(
            f"There are {_NAMESAKES} workflows called like '{workflow.slug}'.",
            remedy="Choose a slug for it.",
        )


def _namesakes(slug: str) -> Iterator[str]:
    """Yield `slug`, then `slug-2`, `slug-3`, ..., none of them too long."""
    yield slug
    for number in range(2, _NAMESAKES + 1):
        tail = f"-{number}"
        yield slug[: LONGEST_SLUG - len(tail)].rstrip("-") + tail


def _title(title: str) -> str:
    stripped = title.strip()
    if 0 < len(stripped) <= LONGEST_TITLE:
        return stripped
    raise BadInput(
        f"A workflow needs a title of 1 to {LONGEST_TITLE} characters; this one has "
        f"{len(stripped)}.",
        remedy="Give it a name by which people know it.",
    )
