"""Secrets of hooks, by name: what callers prove themselves with."""

from __future__ import annotations

from typing import Protocol

from stellwerk.kernel.ids import NodeKey, WorkflowId
from stellwerk.tenancy.scope import Scope


class Secrets(Protocol):
    """Keeps secrets of an instance."""

    def get(self, scope: Scope, name: str) -> str | None:
        """Return the secret; None if there is none."""

    def put(self, scope: Scope, name: str, secret: str) -> None:
        """Keep the secret in place of the one before."""


def secret_name(workflow: WorkflowId, node: NodeKey) -> str:
    """Return the name of the secret of a trigger node."""
    return f"hook/{workflow}/{node}"
