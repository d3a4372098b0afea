"""What a valid graph may still be refused for: limits of the platform, numbers known too late."""

from __future__ import annotations

from stellwerk.kernel.errors import BadInput
from stellwerk.kernel.ids import NodeKey


class OverBudget(BadInput):
    """The workflow is larger than an execution or a definition may be; `node` spends most."""

    def __init__(self, message: str, *, node: NodeKey | None = None, remedy: str = "") -> None:
        part = f"loop {node}" if node else "a part of it"
        remedy = remedy or f"Move {part} into a workflow of its own and call it as sub-workflow."
        super().__init__(message, remedy=remedy)
        self.node = node


class NotFixed(BadInput):
    """A number that the machine is built with is an expression, or no number."""

    def __init__(self, node: NodeKey, parameter: str) -> None:
        super().__init__(
            f"Parameter {parameter} of node {node} must be a fixed whole number.",
            remedy="Write the number itself instead of an expression.",
        )
        self.node = node
        self.parameter = parameter
