"""What AWS refuses and moto lets through, at the border of the API."""

from __future__ import annotations

import json

from moto.stepfunctions.exceptions import NameTooLongException

from localcloud.stepfunctions.errors import (
    InvalidDefinition,
    InvalidExecutionInput,
    InvalidOutput,
)
from localcloud.stepfunctions.json_values import STATE_BYTES

DEFINITION_BYTES = 1024 * 1024
"""How large a definition may be."""
NAME = 80
"""How many characters the name of a machine, an execution or a state may have."""


def check_name(name: str) -> None:
    """Refuse a name of a machine or an execution that is too long."""
    if not 0 < len(name) <= NAME:
        raise NameTooLongException(name)


def check_size(definition: str) -> None:
    """Refuse a definition of more than 1 MB."""
    size = len(definition.encode())
    if size > DEFINITION_BYTES:
        raise InvalidDefinition(
            f"Invalid State Machine Definition: {size} bytes; {DEFINITION_BYTES} are allowed"
        )


def check_input(text: str) -> None:
    """Refuse an execution's input that is no JSON or too large."""
    if len(text.encode()) > STATE_BYTES:
        raise InvalidExecutionInput(f"Input has more than {STATE_BYTES} bytes")
    try:
        json.loads(text)
    except ValueError as error:
        raise InvalidExecutionInput(f"Invalid State Machine Execution Input: '{error}'") from error


def check_output(text: str) -> None:
    """Refuse a task's output that is no JSON or too large."""
    if len(text.encode()) > STATE_BYTES:
        raise InvalidOutput(f"Output has more than {STATE_BYTES} bytes")
    try:
        json.loads(text)
    except ValueError as error:
        raise InvalidOutput(f"Invalid Output: '{error}'") from error
