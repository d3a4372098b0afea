"""What a graph may name in the instance where it is published."""

from __future__ import annotations

from stellwerk.kernel.errors import NotFound
from stellwerk.kernel.ids import WorkflowId
from stellwerk.tenancy.scope import Scope
from stellwerk.workflows.ports import Versions

WORKFLOW = "workflow"


class KnownResources:
    """The instance's workflows; `itself` is the one that is being published."""

    def __init__(self, versions: Versions, scope: Scope, *, itself: str) -> None:
        self._versions = versions
        self._scope = scope
        self._itself = itself

    def kind(self, wanted: str, name: str) -> str | None:
        """Return `workflow` for the slug or id of a workflow; nothing else is known."""
        if name == self._itself or self._versions.find(self._scope, name) is not None:
            return WORKFLOW
        try:
            self._versions.workflow(self._scope, WorkflowId(name))
        except NotFound:
            return None
        return WORKFLOW
