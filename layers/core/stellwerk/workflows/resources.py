"""What a graph may name outside of itself: looked up when it is saved, published and run.

One function, `unknown`, says what is missing, for all three.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping

from stellwerk.kernel.errors import NotFound
from stellwerk.kernel.ids import NodeKey, WorkflowId
from stellwerk.tenancy.scope import Scope
from stellwerk.workflows.faults import Code, Fault
from stellwerk.workflows.model import Reference
from stellwerk.workflows.ports import Resources, Things, Versions

WORKFLOW = "workflow"
USER = "user"
_LONGEST = 60
"""Characters of a name in a message."""


class KnownResources:
    """What there is in the scope's instance; `itself` is the slug that is being published.

    Workflows are the versions' own; all other kinds are what `things` know. What nothing knows of
    is missing, save users where nobody keeps any.
    """

    def __init__(
        self,
        versions: Versions,
        scope: Scope,
        *,
        itself: str = "",
        things: Mapping[str, Things] | None = None,
    ) -> None:
        self._versions = versions
        self._scope = scope
        self._itself = itself
        self._things = things or {}

    def kind(self, wanted: str, name: str) -> str | None:
        """Return the kind of what `name` stands for, or None."""
        keeper = self._things.get(wanted)
        if keeper is not None:
            return wanted if keeper.known(self._scope, name) else None
        if wanted == USER:
            return USER
        return WORKFLOW if self._is_workflow(name) else None

    def _is_workflow(self, name: str) -> bool:
        if name == self._itself or self._versions.find(self._scope, name) is not None:
            return True
        try:
            self._versions.workflow(self._scope, WorkflowId(name))
        except NotFound:
            return False
        return True


def unknown(references: Iterable[Reference], resources: Resources) -> Iterator[Fault]:
    """Yield what is named and does not exist for whoever asks, or is of another kind."""
    for reference in references:
        kind = resources.kind(reference.kind, reference.name)
        if kind == reference.kind:
            continue
        node = NodeKey(reference.node)
        place = f"Node {node}, parameter {reference.parameter}:"
        name = f'"{reference.name[:_LONGEST]}"'
        if kind is None:
            code = Code.RESOURCE_MISSING
            message = f"{place} there is no {reference.kind} {name}, or it is not open to you."
        else:
            code = Code.RESOURCE_WRONG_KIND
            message = f"{place} {name} is of kind {kind}, but a {reference.kind} is needed."
        yield Fault(code, message, node=node, parameter=reference.parameter)
