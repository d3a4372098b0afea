"""Checks of a definition that AWS makes when a machine is created, and moto does not."""

from __future__ import annotations

import json

from localcloud.stepfunctions.errors import InvalidDefinition


def check_definition(text: str) -> None:
    """Raise InvalidDefinition, with all faults, for what AWS would refuse."""
    try:
        json.loads(text)
    except ValueError as error:
        raise InvalidDefinition(f"Invalid State Machine Definition: not JSON: {error}") from error
