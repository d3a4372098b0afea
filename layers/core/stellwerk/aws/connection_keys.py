"""Keys of connections and of mailboxes that are watched: see `keys`, of which this is a part.

| item | pk (after mandate#instance) | sk |
|---|---|---|
| connection | connections | its id |
| who renews a connection's tokens | renewal#C | renewal |
| consent that a user was asked for | consent#U#sha256 | consent |
| mailbox that is watched | mailbox#B | mailbox |
| who watches it | mailbox#B | watcher#id |
| what a workflow watches | workflow#W | mailbox#node |

B stands for a connection and a folder: their SHA-256. What belongs to no mandate:

| item | pk (after system##) | sk |
|---|---|---|
| entry of a mailbox that is watched | mailboxes | M#I#B |
"""

from __future__ import annotations

import hashlib

from stellwerk.aws import keys
from stellwerk.aws.keys import Key
from stellwerk.kernel.ids import WorkflowId
from stellwerk.tenancy.scope import NO_INSTANCE, SYSTEM, Scope
from stellwerk.toolboxes.model import ConnectionId

WATCHER, WATCHED = "watcher#", "mailbox#"
MAILBOX = "mailbox"
MAILBOXES = f"{SYSTEM}#{NO_INSTANCE}#mailboxes"
"""The partition that lists the mailboxes that are watched."""


def connection(scope: Scope, connection: ConnectionId) -> Key:
    """Return the key of a connection; those of an instance share a partition."""
    return Key(_within(scope, "connections"), connection)


def renewal(scope: Scope, connection: ConnectionId) -> Key:
    """Return the key of who renews a connection's tokens."""
    return Key(_within(scope, f"renewal#{connection}"), "renewal")


def consent(scope: Scope, state: str) -> Key:
    """Return the key of a consent that the scope's user was asked for; states come from outside."""
    return Key(_within(scope, f"consent#{scope.user}#{_digest(state)}"), "consent")


def mailbox(scope: Scope, box: str) -> Key:
    """Return the key of a mailbox that is watched; its watchers share the partition."""
    return Key(_within(scope, f"mailbox#{box}"), MAILBOX)


def watcher(scope: Scope, box: str, watcher: str) -> Key:
    """Return the key of who watches a mailbox."""
    return Key(mailbox(scope, box).pk, f"{WATCHER}{watcher}")


def watched(scope: Scope, workflow: WorkflowId, node: str = "") -> Key:
    """Return the key of what a trigger watches; without a node how those of a workflow begin."""
    return Key(keys.workflow(scope, workflow).pk, f"{WATCHED}{node}")


def mailbox_entry(scope: Scope, box: str) -> Key:
    """Return the key of the entry of a mailbox that is watched."""
    return Key(MAILBOXES, f"{scope.mandate}#{scope.instance}#{box}")


def _digest(text: str) -> str:
    """Return a text's SHA-256."""
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()


def _within(scope: Scope, partition: str) -> str:
    return f"{scope.mandate}#{scope.instance}#{partition}"
