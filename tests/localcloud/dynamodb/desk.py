"""Tables to work on: one on the engine, and its twin on moto."""

from __future__ import annotations

import copy
from typing import Any

from localcloud.dynamodb.engine import Engine, Forgetful
from localcloud.dynamodb.errors import Refusal
from localcloud.dynamodb.table import Tables, table_of

NAME = "t"
DESCRIPTION: dict[str, Any] = {
    "TableName": NAME,
    "BillingMode": "PAY_PER_REQUEST",
    "KeySchema": [
        {"AttributeName": "pk", "KeyType": "HASH"},
        {"AttributeName": "sk", "KeyType": "RANGE"},
    ],
    "AttributeDefinitions": [
        {"AttributeName": "pk", "AttributeType": "S"},
        {"AttributeName": "sk", "AttributeType": "N"},
        {"AttributeName": "g", "AttributeType": "S"},
        {"AttributeName": "h", "AttributeType": "S"},
    ],
    "GlobalSecondaryIndexes": [
        {
            "IndexName": "by_g",
            "KeySchema": [
                {"AttributeName": "g", "KeyType": "HASH"},
                {"AttributeName": "h", "KeyType": "RANGE"},
            ],
            "Projection": {"ProjectionType": "ALL"},
        },
        {
            "IndexName": "keys",
            "KeySchema": [{"AttributeName": "g", "KeyType": "HASH"}],
            "Projection": {"ProjectionType": "KEYS_ONLY"},
        },
    ],
}


def engine() -> Engine:
    """An engine with one empty table."""
    tables = Tables()
    tables.add(table_of(DESCRIPTION))
    return Engine(tables, Forgetful())


def key(pk: str = "a", sk: int = 1) -> dict[str, Any]:
    return {"pk": {"S": pk}, "sk": {"N": str(sk)}}


def item(pk: str = "a", sk: int = 1, **attributes: Any) -> dict[str, Any]:
    return {**key(pk, sk), **attributes}


class Tried:
    """Runs one operation on an engine: its answer, or the code of its refusal."""

    def __init__(self, engine: Engine) -> None:
        self.engine = engine

    def __call__(self, operation: str, **request: Any) -> Any:
        try:
            return self.engine.operations[operation](copy.deepcopy({"TableName": NAME, **request}))
        except Refusal as refusal:
            return refusal.code
