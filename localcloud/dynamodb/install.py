"""Puts the engine behind moto's DynamoDB API, for as long as a cloud runs."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any

from moto.core.exceptions import JsonRESTError
from moto.core.responses import ActionResult
from moto.core.utils import camelcase_to_underscores
from moto.dynamodb.models.utilities import dynamo_json_dump
from moto.dynamodb.responses import DynamoHandler

from localcloud.dynamodb.engine import Engine
from localcloud.dynamodb.errors import Refusal
from localcloud.dynamodb.table import table_of
from localcloud.patching import Repair, applied

_PREFIX = "com.amazonaws.dynamodb.v20120810#"
_CREATE, _DELETE = DynamoHandler.create_table, DynamoHandler.delete_table

UNKNOWN = (
    "batch_execute_statement",
    "create_backup",
    "execute_statement",
    "execute_transaction",
    "export_table_to_point_in_time",
    "import_table",
    "restore_table_from_backup",
    "restore_table_to_point_in_time",
    "update_table",
)
"""Operations that would see moto's own, empty tables."""


@contextmanager
def installed(engine: Engine) -> Iterator[None]:
    """Let `engine` answer while the block runs."""
    repairs = [
        Repair(DynamoHandler, camelcase_to_underscores(name), _answering(operation))
        for name, operation in engine.operations.items()
    ]
    repairs += [Repair(DynamoHandler, name, _refusing(name)) for name in UNKNOWN]
    repairs.append(Repair(DynamoHandler, "create_table", _creating(engine)))
    repairs.append(Repair(DynamoHandler, "delete_table", _deleting(engine)))
    with applied(repairs):
        yield


def _answering(
    operation: Callable[[Mapping[str, Any]], dict[str, Any]],
) -> Callable[[DynamoHandler], ActionResult]:
    def answer(self: DynamoHandler) -> ActionResult:
        try:
            return ActionResult(operation(self.body))
        except Refusal as refusal:
            raise _raised(refusal) from refusal

    return answer


def _refusing(name: str) -> Callable[[DynamoHandler], ActionResult]:
    def refuse(self: DynamoHandler) -> ActionResult:
        raise JsonRESTError(
            "UnknownOperationException", f"the local cloud's DynamoDB does not know {name}"
        )

    return refuse


def _creating(engine: Engine) -> Callable[[DynamoHandler], ActionResult]:
    def create_table(self: DynamoHandler) -> ActionResult:
        """Let moto check and describe the table; its items live in the engine."""
        result = _CREATE(self)
        description = self.dynamodb_backend.describe_table(self.body["TableName"])["Table"]
        engine.tables.add(table_of(description))
        return result

    return create_table


def _deleting(engine: Engine) -> Callable[[DynamoHandler], ActionResult]:
    def delete_table(self: DynamoHandler) -> ActionResult:
        result = _DELETE(self)
        engine.tables.drop(self.body["TableName"])
        return result

    return delete_table


def _raised(refusal: Refusal) -> JsonRESTError:
    error = JsonRESTError(_PREFIX + refusal.code, refusal.message)
    error.description = dynamo_json_dump(
        {"__type": _PREFIX + refusal.code, "message": refusal.message, **refusal.more}
    )
    return error
