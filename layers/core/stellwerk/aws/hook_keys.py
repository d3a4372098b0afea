"""Keys of what triggers wait with: see `keys`, of which this is a part.

| item | pk (after mandate#instance) | sk |
|---|---|---|
| hook: address of a trigger node | workflow#W | hook#node |
| secret of a hook | hook-secrets | sha256 |
| subscriptions of a workflow | workflow#W | subscriptions |
| subscription to a topic | subscriptions#sha256 | workflow#node |

What belongs to no mandate has `system` in its place, and no instance:

| item | pk (after system##) | sk |
|---|---|---|
| whose the token of a hook is | hook#sha256 | hook |
"""

from __future__ import annotations

import hashlib

from stellwerk.aws.keys import Key
from stellwerk.kernel.ids import WorkflowId
from stellwerk.tenancy.scope import Scope


def hook(scope: Scope, workflow: WorkflowId, node: str = "") -> Key:
    """Return the key of a trigger node's address; without a node how those of a workflow begin."""
    return Key(_within(scope, f"workflow#{workflow}"), f"hook#{node}")


def hook_address(scope: Scope, token: str) -> Key:
    """Return the key of whose a token is: below the system's place; others have none."""
    return Key(_within(scope, f"hook#{_digest(token)}"), "hook")


def hook_secret(scope: Scope, name: str) -> Key:
    """Return the key of the secret of a hook."""
    return Key(_within(scope, "hook-secrets"), _digest(name))


def subscriptions(scope: Scope, workflow: WorkflowId) -> Key:
    """Return the key of the list of what a workflow's triggers wait for."""
    return Key(_within(scope, f"workflow#{workflow}"), "subscriptions")


def subscription(scope: Scope, topic: str, who: str = "") -> Key:
    """Return the key of a trigger that waits for a topic; all who do share the partition."""
    return Key(_within(scope, f"subscriptions#{_digest(topic)}"), who)


def _within(scope: Scope, partition: str) -> str:
    return f"{scope.mandate}#{scope.instance}#{partition}"


def _digest(text: str) -> str:
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()
