"""Finding and reading workflows and versions; checking graphs that nobody has saved."""

from __future__ import annotations

from collections.abc import Sequence

from stellwerk.kernel.errors import NotFound
from stellwerk.kernel.ids import WorkflowId
from stellwerk.kernel.pages import Page
from stellwerk.tenancy.access import Level, Verb
from stellwerk.tenancy.scope import Scope, require
from stellwerk.workflows.diff import Diff, diff
from stellwerk.workflows.faults import Fault, errors
from stellwerk.workflows.graph import Graph
from stellwerk.workflows.model import Version, Workflow
from stellwerk.workflows.naming import words_of
from stellwerk.workflows.ports import Wanted
from stellwerk.workflows.press import VERSIONS, WORKFLOWS, Room
from stellwerk.workflows.preview import Preview, previewed


class Browsing(Room):
    """What changes nothing."""

    def get(self, scope: Scope, workflow: WorkflowId) -> Workflow:
        """Return the workflow; raises NotFound, also for one that the scope may not read."""
        return self._workflow(scope, workflow)

    def find(self, scope: Scope, name: str) -> Workflow:
        """Return the workflow with that slug or id; raises NotFound."""
        found = self._versions.find(scope, name)
        try:
            return self._workflow(scope, found.id if found else WorkflowId(name))
        except NotFound as missing:
            raise NotFound(
                f"there is no workflow called '{name}'", remedy="Look at the list of workflows."
            ) from missing

    def list(
        self,
        scope: Scope,
        *,
        query: str = "",
        tag: str = "",
        active: bool | None = None,
        mine: bool = False,
        cursor: str | None = None,
        limit: int = 50,
    ) -> Page[Workflow]:
        """Return a page of the workflows that the scope may read, by slug.

        `query` are beginnings of words of the title or slug; then the page is sorted by the word
        found. A page may be short of `limit` though there are more: its cursor says so.
        """
        only_mine = require(scope, WORKFLOWS, Verb.READ) is Level.MY or mine
        owner = scope.user if only_mine else None
        wanted = Wanted(words=words_of(query), tag=tag, active=active, owner=owner)
        return self._versions.workflows(scope, wanted, cursor=cursor, limit=limit)

    def versions(
        self, scope: Scope, workflow: WorkflowId, *, cursor: str | None = None, limit: int = 50
    ) -> Page[Version]:
        """Return a page of a workflow's versions, the newest first."""
        found = self._workflow(scope, workflow)
        require(scope, VERSIONS, Verb.READ, found.created_by)
        return self._versions.versions(scope, workflow, cursor=cursor, limit=limit)

    def version(self, scope: Scope, workflow: WorkflowId, number: int) -> Version:
        """Return a version; raises NotFound."""
        return self._version(scope, self._workflow(scope, workflow), number)

    def graph(self, scope: Scope, version: Version) -> Graph:
        """Return the graph that a version keeps; whoever has the version may read it."""
        return self._graph(scope, version)

    def diff(self, scope: Scope, workflow: WorkflowId, before: int, after: int) -> Diff:
        """Return what version `after` has otherwise than version `before`."""
        found = self._workflow(scope, workflow)
        old, new = (self._version(scope, found, number) for number in (before, after))
        return diff(self._graph(scope, old), self._graph(scope, new), before=before, after=after)

    def validate(self, scope: Scope, graph: Graph) -> Sequence[Fault]:
        """Return all that is wrong with a graph, if it were published here; nothing is written."""
        require(scope, VERSIONS, Verb.READ)
        return self._faults(scope, graph)

    def preview(self, scope: Scope, graph: Graph) -> Preview:
        """Return what a graph would be compiled to, and what a run of it spends at most."""
        faults = self.validate(scope, graph)
        if errors(faults):
            return Preview(faults=tuple(faults))
        compiled = self._press.compiler.compile(
            graph, self._press.catalogue, prefix=self._press.prefix, comment="preview"
        )
        return previewed(compiled, faults)
