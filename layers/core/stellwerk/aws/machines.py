"""State machines: per published version, and per loop run in chunks; created, never updated."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from stellwerk.aws.errors import translated
from stellwerk.aws.names import check_name, check_owner, machine_of
from stellwerk.tenancy.scope import Scope

if TYPE_CHECKING:
    from mypy_boto3_stepfunctions import SFNClient


class StepFunctionsMachines:
    """State machines in Step Functions, which act under `role`. Requests: 1."""

    def __init__(self, client: Callable[[], SFNClient], role: str) -> None:
        self._client = client
        self._role = role

    def create(self, scope: Scope, name: str, definition: str) -> str:
        """Create a standard state machine and return its ARN; an equal one is the same.

        Raises NotFound if the name does not begin with the scope's mandate.
        """
        check_name(name)
        check_owner(scope, name)
        with translated():
            answer = self._client().create_state_machine(
                name=name, definition=definition, roleArn=self._role, type="STANDARD"
            )
        return answer["stateMachineArn"]

    def delete(self, scope: Scope, machine: str) -> None:
        """Delete a state machine with its executions; one that is gone is deleted.

        Raises NotFound if the name does not begin with the scope's mandate.
        """
        check_owner(scope, machine_of(machine))
        with translated():
            self._client().delete_state_machine(stateMachineArn=machine)
