"""Starts that no person asks for: by the clock, by a message, by whatever fires a trigger."""

from __future__ import annotations

from stellwerk.kernel.ids import NodeKey, WorkflowId
from stellwerk.kernel.json import JsonValue
from stellwerk.runs.model import Run
from stellwerk.runs.pinning import find_workflow
from stellwerk.runs.starting import Order, Starting
from stellwerk.runs.world import World
from stellwerk.tenancy.scope import Scope, of_owner
from stellwerk.workflows.model import Overflow, Workflow


class Firing:
    """Starts runs in the name of their workflow's owner."""

    def __init__(self, world: World, starting: Starting) -> None:
        self._world = world
        self._starting = starting

    def fire(
        self,
        scope: Scope,
        workflow: WorkflowId,
        *,
        trigger: NodeKey,
        delivery: str,
        payload: JsonValue = None,
        overlap: Overflow | None = None,
    ) -> Run:
        """Start a run at `trigger`; a known `delivery` returns the run that it started.

        `scope` is the platform's, at the workflow's instance. The run acts as the owner, with the
        rights that the owner has now: raises Forbidden, and records no run, where these do not
        suffice. `overlap` is what happens while another run of that trigger is open; with `skip`,
        and where the workflow itself skips, raises ConcurrencyReached. Otherwise as
        `Starting.record`.
        """
        found = find_workflow(self._world, scope, workflow)
        order = Order(
            workflow=found.id,
            payload=payload,
            trigger=trigger,
            delivery=delivery,
            automatic=True,
            overlap=overlap,
        )
        return self._fire(of_owner(scope, found.created_by), found, order)

    def _fire(self, scope: Scope, workflow: Workflow, order: Order) -> Run:
        return self._starting.launch(scope, self._starting.record_of(scope, workflow, order))
