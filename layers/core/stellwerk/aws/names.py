"""Names and ARNs of state machines and executions."""

from __future__ import annotations

from stellwerk.kernel.errors import BadInput, NotFound
from stellwerk.tenancy.scope import Scope

MAX_NAME = 80
"""Characters that Step Functions allows in the name of a machine or an execution."""


def check_name(name: str) -> None:
    """Raise BadInput for a name that Step Functions would refuse for its length."""
    if not 0 < len(name) <= MAX_NAME:
        raise BadInput(
            f"'{name}' has {len(name)} characters; Step Functions allows 1 to {MAX_NAME}",
            remedy="Shorten the slug of the workflow.",
        )


def check_owner(scope: Scope, machine: str) -> None:
    """Raise NotFound unless the machine's name begins with the scope's mandate."""
    if not machine.startswith(f"{scope.mandate}-"):
        raise NotFound(f"there is no state machine '{machine}'")


def machine_of(arn: str) -> str:
    """Return the machine's name in the ARN of a machine or of one of its executions."""
    parts = arn.split(":")
    return parts[6] if len(parts) > 6 else arn


def execution_arn(machine: str, name: str) -> str:
    """Return the ARN of the execution called `name` of the machine with that ARN."""
    return f"{machine.replace(':stateMachine:', ':execution:', 1)}:{name}"
