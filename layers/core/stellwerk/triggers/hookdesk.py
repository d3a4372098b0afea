"""Hooks, as people use them: which addresses a workflow has, a new one, a secret."""

from __future__ import annotations

from collections.abc import Sequence

from stellwerk.kernel.clock import Clock
from stellwerk.kernel.errors import BadInput, NotFound
from stellwerk.kernel.ids import NodeKey, WorkflowId
from stellwerk.tenancy.access import Verb
from stellwerk.tenancy.auditing import Audit
from stellwerk.tenancy.scope import Scope, of_platform, require
from stellwerk.triggers.hooks import Addresses, Hook, Hooks, keep_address, new_token
from stellwerk.triggers.secrets import Secrets, secret_name
from stellwerk.workflows.model import Workflow
from stellwerk.workflows.ports import Versions

WORKFLOWS = "workflows"
LONGEST_SECRET = 4096


class HookDesk:
    """Lists and changes the hooks of workflows. An address is a secret: it takes the right to edit.

    Whoever may only read a workflow could start it otherwise.
    """

    def __init__(
        self,
        hooks: Hooks,
        addresses: Addresses,
        secrets: Secrets,
        versions: Versions,
        audit: Audit,
        clock: Clock,
    ) -> None:
        self._hooks = hooks
        self._addresses = addresses
        self._secrets = secrets
        self._versions = versions
        self._audit = audit
        self._clock = clock

    def list(self, scope: Scope, workflow: WorkflowId) -> Sequence[tuple[Hook, bool]]:
        """Return the hooks of a workflow, and whether each has a secret."""
        found = self._editable(scope, workflow)
        hooks = self._hooks.of_workflow(scope, found.id)
        return [(hook, self._has_secret(scope, hook)) for hook in hooks]

    def rotate(self, scope: Scope, workflow: WorkflowId, node: NodeKey) -> tuple[Hook, bool]:
        """Give the node another address; the old one is nobody's from then on."""
        found = self._editable(scope, workflow)
        hook = self._hooks.get(scope, found.id, node)
        with self._audit.act(scope, "hook.rotate", f"workflow:{found.id}"):
            changes = {"token": new_token(), "rotated": self._clock.now()}
            changed = hook.model_copy(update=changes)
            keep_address(self._addresses, scope, changed)
            written = self._hooks.write(scope, changed)
            self._addresses.forget(of_platform(), hook.token)
        return written, self._has_secret(scope, written)

    def set_secret(self, scope: Scope, workflow: WorkflowId, node: NodeKey, secret: str) -> None:
        """Keep what the node's callers prove themselves with; it is never shown again."""
        if not 8 <= len(secret) <= LONGEST_SECRET or not secret.isprintable():
            raise BadInput(
                f"A secret has 8 to {LONGEST_SECRET} printable characters.",
                remedy="Let a password manager make one.",
            )
        found = self._editable(scope, workflow)
        hook = self._hooks.get(scope, found.id, node)
        with self._audit.act(scope, "hook.secret", f"workflow:{found.id}"):
            self._secrets.put(scope, secret_name(hook.workflow, hook.node), secret)

    def _editable(self, scope: Scope, workflow: WorkflowId) -> Workflow:
        found = self._versions.find(scope, workflow)
        if found is None:
            found = self._versions.workflow(scope, workflow)
        require(scope, WORKFLOWS, Verb.UPDATE, found.created_by)
        return found

    def _has_secret(self, scope: Scope, hook: Hook) -> bool:
        return self._secrets.get(scope, secret_name(hook.workflow, hook.node)) is not None


def nothing_there() -> NotFound:
    """Return the one answer to whoever has no valid address: it says nothing of what there is."""
    return NotFound("There is nothing at this address.", remedy="Ask whoever gave it to you.")
