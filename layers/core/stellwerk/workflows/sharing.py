"""Workflows that the mandate's instances show one another, and copies of them."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress

from stellwerk.kernel.errors import NotFound
from stellwerk.kernel.ids import InstanceId, WorkflowId
from stellwerk.kernel.pages import Page
from stellwerk.tenancy.access import Verb
from stellwerk.tenancy.scope import Scope, require
from stellwerk.workflows.drafting import Drafting
from stellwerk.workflows.faults import Fault
from stellwerk.workflows.model import Origin, Version, Workflow
from stellwerk.workflows.ports import SharedWorkflow
from stellwerk.workflows.press import WORKFLOWS


class Sharing(Drafting):
    """Shows and copies what other instances share."""

    def shared(
        self, scope: Scope, *, cursor: str | None = None, limit: int = 50
    ) -> Page[SharedWorkflow]:
        """Return a page of what all instances of the mandate share, by slug."""
        require(scope, WORKFLOWS, Verb.READ)
        return self._versions.shared(scope, cursor=cursor, limit=limit)

    def copy(
        self, scope: Scope, instance: InstanceId, workflow: WorkflowId
    ) -> tuple[Workflow, Version, Sequence[Fault]]:
        """Begin a workflow with the published, else newest graph of one that is shared.

        Its title, tags and `$vars` come with it; it is the caller's, and nothing of it is
        published. Also returns what is wrong with the graph here: what it named may be missing.
        """
        source = self._source(scope.at(instance), workflow)
        number = source.published or source.latest
        original = self._versions.get(scope.at(instance), workflow, number)
        graph = self._graph(scope.at(instance), original)
        with self._audit.act(scope, "workflow.copy", f"workflow:{workflow}") as act:
            self._may_create(scope)
            begun = self._new_workflow(scope, source.title).model_copy(
                update={
                    "tags": source.tags,
                    "vars": source.vars,
                    "origin": Origin(instance=instance, workflow=workflow, version=number),
                }
            )
            draft = self._draft(scope, begun, graph)
            created = self._begin(scope, begun, [draft], None)
            act.object(f"workflow:{created.id}")
            act.after(created)
        stored = self._versions.get(scope, created.id, draft.number)
        return created, stored, self._faults(scope, graph, itself=created.slug)

    def _source(self, there: Scope, workflow: WorkflowId) -> Workflow:
        """Return a workflow that is shared; one that is not is as unknown as one that is none."""
        with suppress(NotFound):
            source = self._versions.workflow(there, workflow)
            if source.shared:
                return source
        raise NotFound(
            f"there is no shared workflow {workflow} in '{there.instance}'",
            remedy="Look at the list of what is shared.",
        )
