"""moto with the template's policies in front: what IAM would refuse is refused.

moto itself ignores policies. A request goes as `Items` sends it: as the session of the mandate in
its keys, else as the group's own role.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeAlias, cast

from botocore.exceptions import ClientError

from scripts.policies import ACCOUNT, PREFIX, REGION, Deployment
from stellwerk.aws.sessions import mandate_of
from stellwerk.tenancy.scope import SYSTEM
from tests.contracts.stores import Moto
from tests.security.acting import TENANT_DATA, World
from tests.security.simulator import Principal, Request, allowed

if TYPE_CHECKING:
    from mypy_boto3_dynamodb import DynamoDBClient
    from mypy_boto3_s3 import S3Client

Raw: TypeAlias = Mapping[str, Any]
"""A request of boto3."""
_DEPLOYMENT = Deployment.of()
WORLD = World(_DEPLOYMENT.roles, _DEPLOYMENT.on_resources)
_ENTRIES = {
    "Put": ("PutItem", "Item"),
    "Update": ("UpdateItem", "Key"),
    "Delete": ("DeleteItem", "Key"),
    "ConditionCheck": ("ConditionCheckItem", "Key"),
}
_OBJECTS = {
    "get_object": "GetObject",
    "put_object": "PutObject",
    "delete_object": "DeleteObject",
}


@dataclass(frozen=True)
class Asked:
    """One thing that IAM is asked about."""

    action: str
    table: str
    keys: tuple[str, ...]
    attributes: frozenset[str] = frozenset()
    index: str = ""


class GuardedMoto(Moto):
    """Makes stores whose requests a group of Lambdas must be allowed."""

    def __init__(self, group: str) -> None:
        super().__init__()
        self.asked: set[str] = set()
        self.dynamodb = cast("DynamoDBClient", _GuardedDynamo(self.dynamodb, group, self.asked))
        self.s3 = cast("S3Client", _GuardedS3(self.s3, group, self.asked))


class _Guarded:
    def __init__(self, client: object, group: str, asked: set[str]) -> None:
        self._client = client
        self._group = group
        self._asked = asked

    def _check(self, mandate: str, request: Request) -> None:
        self._asked.add(request.action)
        if not allowed(self._principal(mandate), request, WORLD.policies_at(request.resource)):
            message = f"{self._group} of '{mandate}': {request}"
            error: Any = {"Error": {"Code": "AccessDeniedException", "Message": message}}
            raise ClientError(error, request.action)

    def _principal(self, mandate: str) -> Principal:
        own = WORLD.principal(self._group)
        if mandate == SYSTEM:
            return own
        tags = {"mandate": mandate, "group": self._group}
        assert WORLD.assumes(own, tags), f"{self._group} has no session for '{mandate}'"
        role = WORLD.roles[TENANT_DATA]
        return Principal(role.arn, role.policies, tags)


class _GuardedDynamo(_Guarded):
    def __getattr__(self, name: str) -> Callable[..., object]:
        operation: Callable[..., object] = getattr(self._client, name)
        wanted = _WANTED.get(name)
        if wanted is None:
            return operation

        def guarded(**request: object) -> object:
            asked = list(wanted(request))
            batches = [[each] for each in asked] if name == "batch_get_item" else [asked]
            for together in batches:
                mandates = {mandate_of(key) for each in together for key in each.keys} - {SYSTEM}
                assert len(mandates) <= 1, f"{name} reaches {mandates}"
                for each in together:
                    self._check(next(iter(mandates), SYSTEM), _of(each))
            return operation(**request)

        return guarded


class _GuardedS3(_Guarded):
    def __getattr__(self, name: str) -> Callable[..., object]:
        operation: Callable[..., object] = getattr(self._client, name)
        if name not in _OBJECTS:
            return operation

        def guarded(**request: object) -> object:
            key = str(request["Key"])
            arn = f"arn:aws:s3:::{PREFIX}-{ACCOUNT}-{REGION}/{key}"
            context = {"aws:SecureTransport": ("true",)}
            self._check(key.split("/")[0], Request(f"s3:{_OBJECTS[name]}", arn, context))
            return operation(**request)

        return guarded


def _of(asked: Asked) -> Request:
    begin = asked.table.partition("-")[0]
    table = {"directory": "platform"}.get(begin, begin)
    index = f"/index/{asked.index}" if asked.index else ""
    arn = f"arn:aws:dynamodb:{REGION}:{ACCOUNT}:table/{PREFIX}-{table}{index}"
    context = {
        "dynamodb:LeadingKeys": asked.keys,
        "dynamodb:Attributes": tuple(sorted(asked.attributes)),
    }
    return Request(f"dynamodb:{asked.action}", arn, context)


def _get(request: Raw) -> Iterator[Asked]:
    yield Asked("GetItem", request["TableName"], (_pk(request["Key"]),))


def _query(request: Raw) -> Iterator[Asked]:
    name = request["KeyConditionExpression"].split(" AND ")[0].split(" = ")[1]
    key = request["ExpressionAttributeValues"][name]["S"]
    yield Asked("Query", request["TableName"], (key,), index=request.get("IndexName", ""))


def _batch_get(request: Raw) -> Iterator[Asked]:
    """With sessions `Items` sends a batch for each mandate."""
    for table, wanted in request["RequestItems"].items():
        partitions = [_pk(key) for key in wanted["Keys"]]
        for mandate in sorted({mandate_of(each) for each in partitions}):
            own = tuple(each for each in partitions if mandate_of(each) == mandate)
            yield Asked("BatchGetItem", table, own)


def _batch_write(request: Raw) -> Iterator[Asked]:
    for table, writes in request["RequestItems"].items():
        items = [write["PutRequest"]["Item"] for write in writes if "PutRequest" in write]
        for item in items:
            _check_indexes(item)
        gone = [write["DeleteRequest"]["Key"] for write in writes if "DeleteRequest" in write]
        yield Asked("BatchWriteItem", table, tuple(_pk(item) for item in (*items, *gone)))


def _entry(kind: str, request: Raw) -> Asked:
    action, place = _ENTRIES[kind]
    _check_indexes(request["Item"] if kind == "Put" else _changed(request))
    named = request.get("ExpressionAttributeNames", {}).values()
    attributes = frozenset({*request[place], *named})
    return Asked(action, request["TableName"], (_pk(request[place]),), attributes)


def _transact(request: Raw) -> Iterator[Asked]:
    for entry in request["TransactItems"]:
        for kind, inner in entry.items():
            yield _entry(kind, inner)


def _pk(item: Raw) -> str:
    return str(item["pk"]["S"])


def _changed(request: Raw) -> Raw:
    """Return the key of an update with the attributes that it sets."""
    names = request.get("ExpressionAttributeNames", {})
    values = request.get("ExpressionAttributeValues", {})
    assigned = re.findall(r"(#\w+) = (:\w+)", request.get("UpdateExpression", ""))
    return {**{names[name]: values[value] for name, value in assigned}, **request["Key"]}


def _check_indexes(item: Raw) -> None:
    """What an index lists under a mandate belongs to it: IAM does not look at these attributes."""
    mandate = mandate_of(_pk(item))
    for name, value in item.items():
        if name.startswith("in_"):
            assert mandate_of(value["S"]) == mandate, f"{name} of {_pk(item)} is {value}"


_WANTED: Mapping[str, Callable[[Raw], Iterator[Asked]]] = {
    "get_item": _get,
    "query": _query,
    "batch_get_item": _batch_get,
    "batch_write_item": _batch_write,
    "put_item": lambda request: iter([_entry("Put", request)]),
    "update_item": lambda request: iter([_entry("Update", request)]),
    "delete_item": lambda request: iter([_entry("Delete", request)]),
    "transact_write_items": _transact,
}
