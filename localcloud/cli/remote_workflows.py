"""Workflows and their versions, as the API offers them."""

from __future__ import annotations

from localcloud.cli.remote import Api
from localcloud.cli.remote_records import object_of, page_of, version_of, workflow_of
from stellwerk.kernel.errors import NotFound
from stellwerk.kernel.ids import WorkflowId
from stellwerk.kernel.json import JsonObject
from stellwerk.kernel.pages import Page
from stellwerk.tenancy.scope import Scope
from stellwerk.workflows.diff import Diff
from stellwerk.workflows.graph import Graph, graph_hash
from stellwerk.workflows.model import Version, Workflow


class RemoteWorkflows:
    """Workflows of an instance."""

    def __init__(self, api: Api, place: str) -> None:
        self._api = api
        self._place = place

    def find(self, scope: Scope, name: str) -> Workflow:
        """Return a workflow by slug or id."""
        return workflow_of(self._api.get(f"{self._place}/workflows/{name}").object)

    def list(
        self, scope: Scope, *, query: str = "", cursor: str | None = None, limit: int = 50
    ) -> Page[Workflow]:
        """Return a page of workflows."""
        wanted = {"query": query or None, "cursor": cursor, "limit": limit}
        return page_of(self._api.get(f"{self._place}/workflows", wanted).object, workflow_of)

    def versions(
        self, scope: Scope, workflow: WorkflowId, *, cursor: str | None = None, limit: int = 50
    ) -> Page[Version]:
        """Return a page of versions."""
        wanted = {"cursor": cursor, "limit": limit}
        return page_of(self._api.get(self._path(workflow, "versions"), wanted).object, version_of)

    def diff(self, scope: Scope, workflow: WorkflowId, before: int, after: int) -> Diff:
        """Return what a version has otherwise than another."""
        path = self._path(workflow, f"versions/{before}/diff/{after}")
        return Diff.model_validate(self._api.get(path).object)

    def roll_back(
        self, scope: Scope, workflow: WorkflowId, number: int
    ) -> tuple[Workflow, Version]:
        """Make a version that was published before the published one again."""
        path = self._path(workflow, f"versions/{number}/rollback")
        version = version_of(self._api.post(path).object)
        return self.find(scope, workflow), version

    def publish(
        self, scope: Scope, graph: Graph, *, slug: str = "", title: str = ""
    ) -> tuple[Workflow, Version]:
        """Publish a graph as a new version, or as the first one of a new workflow."""
        content = object_of(graph.model_dump(mode="json", by_alias=True, exclude_none=True))
        try:
            known = self.find(scope, slug)
        except NotFound:
            body: JsonObject = {
                "title": title or graph.title or slug,
                "slug": slug,
                "graph": content,
            }
            begun = self._api.post(f"{self._place}/workflows", body).object
            return self._published(
                workflow_of(object_of(begun["workflow"])), object_of(begun["draft"])
            )
        if known.published is not None:
            present = self._api.get(self._path(known.id, f"versions/{known.published}")).object
            if present["graph_hash"] == graph_hash(graph):
                return known, version_of(present)
        draft = self._api.post(self._path(known.id, "drafts"), {}).object
        path = self._path(known.id, f"drafts/{draft['number']}")
        saved = self._api.put(path, content, match=str(draft["etag"])).object
        return self._published(known, object_of(saved["version"]))

    def _published(self, workflow: Workflow, draft: JsonObject) -> tuple[Workflow, Version]:
        path = self._path(workflow.id, f"versions/{draft['number']}/publish")
        version = version_of(self._api.post(path, {}, match=str(draft["etag"])).object)
        return workflow.model_copy(update={"published": version.number}), version

    def _path(self, workflow: WorkflowId, below: str) -> str:
        return f"{self._place}/workflows/{workflow}/{below}"
