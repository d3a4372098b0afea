"""Keys of pools of slots: see `keys`, of which this is a part.

| item | pk (after mandate#instance) | sk |
|---|---|---|
| how many slots of a pool are taken | pool#P | count |
| run that holds one | pool#P | held#started#R |
| run that waits for one | pool#P | queued#started#R |

The pools of a mandate lie at no instance.
"""

from __future__ import annotations

from stellwerk.aws import keys
from stellwerk.aws.keys import Key
from stellwerk.runs.limits import of_mandate
from stellwerk.runs.model import Run
from stellwerk.tenancy.scope import NO_INSTANCE, Scope

HELD, QUEUED = "held#", "queued#"


def partition(scope: Scope, pool: str) -> str:
    """Return the partition of a pool."""
    instance = NO_INSTANCE if of_mandate(pool) else scope.instance
    return f"{scope.mandate}#{instance}#pool#{pool}"


def count(scope: Scope, pool: str) -> Key:
    """Return the key of the number of slots that are taken."""
    return Key(partition(scope, pool), "count")


def held(scope: Scope, pool: str, run: Run) -> Key:
    """Return the key of the entry of a run that holds a slot, the oldest first."""
    return Key(partition(scope, pool), f"{HELD}{keys.listed_at(run.started, run.id)}")


def queued(scope: Scope, pool: str, run: Run) -> Key:
    """Return the key of the entry of a run that waits for a slot, the oldest first."""
    return Key(partition(scope, pool), f"{QUEUED}{keys.listed_at(run.started, run.id)}")
