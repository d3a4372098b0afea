"""Which triggers of a workflow are armed, and who sees to each kind of them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

from stellwerk.kernel.ids import NodeKey
from stellwerk.kernel.json import JsonObject
from stellwerk.tenancy.scope import Scope
from stellwerk.workflows.model import Workflow


@dataclass(frozen=True)
class TriggerNode:
    """A trigger node of the published graph, its parameters as they were drawn."""

    key: NodeKey
    type: str
    parameters: JsonObject


@dataclass(frozen=True)
class Armed:
    """The triggers that may fire now: none where the workflow is inactive or unpublished."""

    workflow: Workflow
    nodes: tuple[TriggerNode, ...] = ()

    def of(self, type_: str) -> tuple[TriggerNode, ...]:
        """Return those of one type, such as `trigger.schedule`."""
        return tuple(node for node in self.nodes if node.type == type_)


class Part(Protocol):
    """Sees to one kind of trigger: makes, changes and removes what fires it outside of us."""

    def synchronise(self, scope: Scope, armed: Armed) -> None:
        """Make what is there what `armed` wants, by difference; may be repeated at any time.

        `scope` is of whoever changed the workflow, at its instance. Raises TransientError where
        a service could not be asked: the change of the workflow stands, and is repeated.
        """
