"""What schedules are called at the Scheduler, and in which group they are."""

from __future__ import annotations

import hashlib
import re

from stellwerk.kernel.ids import MandateId, NodeKey, WorkflowId
from stellwerk.tenancy.scope import Scope

GROUPS = 100
"""Groups of a deployment; an account may have 500."""
_NODE = 16
"""Characters of a trigger's key that a name shows."""


def group_of(prefix: str, mandate: MandateId) -> str:
    """Return the group of a mandate's schedules."""
    number = int.from_bytes(hashlib.sha256(mandate.encode()).digest()[:4]) % GROUPS
    return f"{prefix}-{number:02d}"


def prefix_of(mandate: MandateId) -> str:
    """Return what the names of a mandate's schedules begin with."""
    return f"{_digest(mandate, 8)}-"


def name_of(scope: Scope, workflow: WorkflowId, node: NodeKey, index: int) -> str:
    """Return the name of a trigger's schedule: the same at all times, of up to 64 characters.

    It is made from a workflow's id of up to 26 characters. `index` counts the expressions.
    """
    whole = _digest(f"{scope.mandate} {scope.instance} {workflow} {node}", 8)
    plain = re.sub(r"[^A-Za-z0-9_-]", "_", workflow)[:26]
    return f"{prefix_of(scope.mandate)}{plain}-{node[:_NODE]}-{whole}-{index}"


def _digest(text: str, length: int) -> str:
    return hashlib.sha256(text.encode()).hexdigest()[:length]
