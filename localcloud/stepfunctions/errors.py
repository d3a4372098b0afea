"""Errors of the Step Functions API, with the codes that AWS gives them; moto's have none."""

from __future__ import annotations

from moto.core.exceptions import AWSError


class InvalidDefinition(AWSError):
    """The definition is no machine that AWS would create."""

    TYPE = "InvalidDefinition"


class InvalidExecutionInput(AWSError):
    """The input is no JSON, or too large."""

    TYPE = "InvalidExecutionInput"


class InvalidOutput(AWSError):
    """The output for a token is no JSON, or too large."""

    TYPE = "InvalidOutput"


class InvalidToken(AWSError):
    """No Task ever had this token."""

    TYPE = "InvalidToken"


class TaskTimedOut(AWSError):
    """The Task of this token has ended."""

    TYPE = "TaskTimedOut"


class ExecutionAlreadyExists(AWSError):
    """The name is taken: by an execution that has ended, or had another input."""

    TYPE = "ExecutionAlreadyExists"


class StateMachineAlreadyExists(AWSError):
    """The name is taken by a machine with another definition."""

    TYPE = "StateMachineAlreadyExists"


class StateMachineDeleting(AWSError):
    """The machine is being deleted."""

    TYPE = "StateMachineDeleting"
