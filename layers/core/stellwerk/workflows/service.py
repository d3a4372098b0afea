"""Workflows and their versions, as people and programs use them."""

from __future__ import annotations

import json

from stellwerk.kernel.errors import NotFound
from stellwerk.kernel.ids import WorkflowId
from stellwerk.kernel.pages import Page
from stellwerk.tenancy.scope import Scope
from stellwerk.workflows.graph import Graph
from stellwerk.workflows.model import Version, Workflow
from stellwerk.workflows.publishing import Press, Publishing
from stellwerk.workflows.values import Texts


class WorkflowService:
    """Publishes, finds and lists workflows."""

    def __init__(self, press: Press) -> None:
        self._versions = press.versions
        self._texts = Texts(press.values)
        self._publishing = Publishing(press)

    def publish(
        self, scope: Scope, graph: Graph, *, slug: str | None = None, title: str | None = None
    ) -> tuple[Workflow, Version]:
        """Publish a graph as the newest version of the workflow called `slug`, made if need be.

        A graph that means what a version of it means is that version again. Without a slug, title
        or the graph's own title name it. Raises as `Publishing.publish`.
        """
        return self._publishing.publish(scope, graph, slug=slug, title=title)

    def find(self, scope: Scope, name: str) -> Workflow:
        """Return the workflow with that slug or id; raises NotFound."""
        found = self._versions.find(scope, name)
        if found is not None:
            return found
        try:
            return self._versions.workflow(scope, WorkflowId(name))
        except NotFound as missing:
            raise NotFound(
                f"there is no workflow called '{name}'", remedy="Look at the list of workflows."
            ) from missing

    def list(self, scope: Scope, *, cursor: str | None = None, limit: int = 50) -> Page[Workflow]:
        """Return a page of workflows, by slug."""
        return self._versions.workflows(scope, cursor=cursor, limit=limit)

    def version(self, scope: Scope, workflow: WorkflowId, number: int) -> Version:
        """Return a version; raises NotFound."""
        return self._versions.get(scope, workflow, number)

    def graph(self, scope: Scope, version: Version) -> Graph:
        """Return the graph that a version keeps."""
        return Graph.model_validate(json.loads(self._texts.load(scope, version.graph)))
