"""Hooks of workflows, whose tokens are, and the secrets of callers, on the table `platform`."""

from __future__ import annotations

from collections.abc import Sequence

from stellwerk.aws import hook_keys
from stellwerk.aws.bodies import Bodies
from stellwerk.aws.errors import Refused
from stellwerk.aws.expressions import Delete, Put, absent, equals, present
from stellwerk.aws.items import Items, Range
from stellwerk.kernel.errors import Conflict, NotFound
from stellwerk.kernel.ids import NodeKey, WorkflowId
from stellwerk.tenancy.scope import Scope
from stellwerk.triggers.hooks import Address, Hook


class DynamoHooks:
    """Hooks, in the partition of their workflow. Requests: 1 each."""

    def __init__(self, items: Items, bodies: Bodies) -> None:
        self._items = items
        self._bodies = bodies

    def of_workflow(self, scope: Scope, workflow: WorkflowId) -> Sequence[Hook]:
        """Return a workflow's hooks, by node."""
        place = hook_keys.hook(scope, workflow)
        found = self._items.query(Range(place.pk, prefix=place.sk))
        return [self._bodies.record(scope, item, Hook) for item in found]

    def get(self, scope: Scope, workflow: WorkflowId, node: NodeKey) -> Hook:
        """Return the hook of a node; raises NotFound."""
        item = self._items.get(hook_keys.hook(scope, workflow, node))
        if item is None:
            raise NotFound(
                f"node '{node}' of workflow {workflow} has no address",
                remedy="Publish a version in which it is a webhook or a form.",
            )
        return self._bodies.record(scope, item, Hook)

    def write(self, scope: Scope, hook: Hook) -> Hook:
        """Write the hook in place of its revision; raises Conflict."""
        item = self._bodies.item(scope, hook, f"workflows/{hook.workflow}/hooks")
        unchanged = equals("revision", hook.revision) if hook.revision else absent()
        try:
            self._items.put(
                Put(hook_keys.hook(scope, hook.workflow, hook.node), item, when=(unchanged,))
            )
        except Refused as refused:
            raise Conflict(
                f"the address of node '{hook.node}' has changed meanwhile",
                remedy="Look at it as it is now, and repeat your change.",
            ) from refused
        return hook.model_copy(update={"revision": hook.revision + 1})

    def remove(self, scope: Scope, hook: Hook) -> None:
        """Remove the hook if it is stored as given."""
        key = hook_keys.hook(scope, hook.workflow, hook.node)
        try:
            self._items.transact([Delete(key, when=(equals("revision", hook.revision),))])
        except Refused:
            return


class DynamoAddresses:
    """Whose tokens are, by hash. Requests: 1 each."""

    def __init__(self, items: Items) -> None:
        self._items = items

    def find(self, scope: Scope, token: str) -> Address | None:
        """Return whose the token is."""
        item = self._items.get(hook_keys.hook_address(scope, token))
        return None if item is None else Address.model_validate_json(str(item["address"]))

    def keep(self, scope: Scope, token: str, address: Address) -> None:
        """Note whose the token is."""
        item = {"address": address.model_dump_json()}
        self._items.put(Put(hook_keys.hook_address(scope, token), item))

    def forget(self, scope: Scope, token: str) -> None:
        """Let the token be nobody's."""
        key = hook_keys.hook_address(scope, token)
        try:
            self._items.transact([Delete(key, when=(present(),))])
        except Refused:
            return


class DynamoSecrets:
    """Secrets of hooks, in a partition of their own. Requests: 1 each."""

    def __init__(self, items: Items) -> None:
        self._items = items

    def get(self, scope: Scope, name: str) -> str | None:
        """Return the secret; None if there is none."""
        item = self._items.get(hook_keys.hook_secret(scope, name))
        return None if item is None else str(item["secret"])

    def put(self, scope: Scope, name: str, secret: str) -> None:
        """Keep the secret in place of the one before."""
        self._items.put(Put(hook_keys.hook_secret(scope, name), {"secret": secret}))
