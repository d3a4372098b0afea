"""Web addresses of triggers: a token for each webhook and form, kept over versions.

Whoever knows a token may deliver. It is kept twice: with the workflow as it is, since its address
is shown, and by its hash where a delivery finds whose it is with one read.
"""

from __future__ import annotations

import secrets
from collections.abc import Sequence
from datetime import datetime
from typing import Protocol

from pydantic import BaseModel, ConfigDict, Field

from stellwerk.kernel.clock import Clock
from stellwerk.kernel.errors import Conflict
from stellwerk.kernel.ids import InstanceId, MandateId, NodeKey, WorkflowId
from stellwerk.kernel.json import JsonObject
from stellwerk.kernel.records import Record
from stellwerk.runs.contention import settle
from stellwerk.tenancy.scope import Scope, of_platform
from stellwerk.triggers.model import Armed, TriggerNode

WEBHOOK, FORM = "trigger.webhook", "trigger.form"
TYPES = (WEBHOOK, FORM)
PATHS = {WEBHOOK: "hooks", FORM: "forms"}
_BYTES = 24
"""192 bits that nobody guesses."""


class Hook(Record):
    """The address of one trigger node."""

    workflow: WorkflowId
    node: NodeKey
    type: str
    """`trigger.webhook` or `trigger.form`."""
    token: str = Field(repr=False)
    parameters: JsonObject = Field(default_factory=dict)
    """The node's, as the published version draws them."""
    armed: bool = True
    """False while the workflow is inactive or unpublished: the address is kept and answers 404."""
    created: datetime
    rotated: datetime | None = None

    @property
    def path(self) -> str:
        """The path of its address."""
        return f"/{PATHS[self.type]}/{self.token}"


class Address(BaseModel):
    """Whose a token is."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    mandate: MandateId
    instance: InstanceId
    workflow: WorkflowId
    node: NodeKey

    @property
    def scope(self) -> Scope:
        """The platform's scope where the trigger is."""
        return of_platform(self.mandate).at(self.instance)


class Hooks(Protocol):
    """The hooks of workflows. A write names the revision that it replaces, or raises Conflict."""

    def of_workflow(self, scope: Scope, workflow: WorkflowId) -> Sequence[Hook]:
        """Return a workflow's hooks, by node."""

    def get(self, scope: Scope, workflow: WorkflowId, node: NodeKey) -> Hook:
        """Return the hook of a node; raises NotFound."""

    def write(self, scope: Scope, hook: Hook) -> Hook:
        """Write the hook, new at revision 0; return it one higher."""

    def remove(self, scope: Scope, hook: Hook) -> None:
        """Remove the hook if it is stored as given; nothing otherwise."""


class Addresses(Protocol):
    """Whose tokens are, kept for no mandate: with any but the platform's scope nothing is there."""

    def find(self, scope: Scope, token: str) -> Address | None:
        """Return whose the token is. One read."""

    def keep(self, scope: Scope, token: str, address: Address) -> None:
        """Note whose the token is."""

    def forget(self, scope: Scope, token: str) -> None:
        """Let the token be nobody's."""


def new_token() -> str:
    """Return 32 characters that nobody guesses."""
    return secrets.token_urlsafe(_BYTES)


class HookPart:
    """Gives a token to what is armed, keeps it over versions, removes it when the node is gone."""

    def __init__(self, hooks: Hooks, addresses: Addresses, clock: Clock) -> None:
        self._hooks = hooks
        self._addresses = addresses
        self._clock = clock

    def synchronise(self, scope: Scope, armed: Armed) -> None:
        """Make the workflow's hooks what `armed` wants; an address outlives a pause."""
        settle(lambda: self._synchronise(scope, armed))

    def _synchronise(self, scope: Scope, armed: Armed) -> None:
        workflow = armed.workflow
        wanted = {node.key: node for node in armed.nodes if node.type in TYPES}
        paused = not workflow.active or not workflow.published
        for hook in self._hooks.of_workflow(scope, workflow.id):
            node = wanted.pop(hook.node, None)
            self._adjust(scope, hook, node, paused=paused)
        for node in wanted.values():
            self._add(scope, workflow.id, node)

    def _adjust(self, scope: Scope, hook: Hook, node: TriggerNode | None, *, paused: bool) -> None:
        if node is not None and node.type == hook.type:
            changes = {"parameters": node.parameters, "armed": True}
        elif paused:
            changes = {"armed": False}
        else:
            self._hooks.remove(scope, hook)
            self._addresses.forget(of_platform(), hook.token)
            if node is not None:
                self._add(scope, hook.workflow, node)
            return
        changed = hook.model_copy(update=changes)
        if changed != hook:
            self._hooks.write(scope, changed)

    def _add(self, scope: Scope, workflow: WorkflowId, node: TriggerNode) -> None:
        hook = Hook(
            workflow=workflow,
            node=node.key,
            type=node.type,
            token=new_token(),
            parameters=node.parameters,
            created=self._clock.now(),
        )
        keep_address(self._addresses, scope, hook)
        try:
            self._hooks.write(scope, hook)
        except Conflict:  # another change of the workflow was faster, and read the same
            self._addresses.forget(of_platform(), hook.token)


def keep_address(addresses: Addresses, scope: Scope, hook: Hook) -> None:
    """Let a hook's token lead to it. Before the hook is written: nobody can see the token yet."""
    address = Address(
        mandate=scope.mandate, instance=scope.instance, workflow=hook.workflow, node=hook.node
    )
    addresses.keep(of_platform(), hook.token, address)
