"""Writes as data, and their conditions, rendered into DynamoDB's expressions.

Every name is a placeholder, so no attribute can meet one of DynamoDB's 573 reserved words.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, TypeAlias

from stellwerk.aws.errors import RawItem
from stellwerk.aws.keys import Key

if TYPE_CHECKING:
    from mypy_boto3_dynamodb.type_defs import (
        AttributeValueTypeDef,
        ConditionCheckTypeDef,
        DeleteTypeDef,
        PutTypeDef,
        TransactWriteItemTypeDef,
        UpdateTypeDef,
    )

Attribute: TypeAlias = str | int | bool
Item: TypeAlias = dict[str, Attribute]


@dataclass(frozen=True)
class Term:
    """One comparison; the terms of a condition hold all together."""

    attribute: str
    operator: str
    values: tuple[Attribute, ...] = ()


def absent(attribute: str = "pk") -> Term:
    """The item lacks `attribute`; without one named: there is no such item."""
    return Term(attribute, "absent")


def present(attribute: str = "pk") -> Term:
    """The item has `attribute`; without one named: it exists."""
    return Term(attribute, "present")


def equals(attribute: str, value: Attribute) -> Term:
    """`attribute` is `value`."""
    return Term(attribute, "=", (value,))


def above(attribute: str, value: int) -> Term:
    """`attribute` is greater than `value`."""
    return Term(attribute, ">", (value,))


def below(attribute: str, value: int) -> Term:
    """`attribute` is smaller than `value`."""
    return Term(attribute, "<", (value,))


def among(attribute: str, values: Sequence[Attribute]) -> Term:
    """`attribute` is one of `values`."""
    return Term(attribute, "among", tuple(values))


@dataclass(frozen=True)
class Put:
    """Write a whole item."""

    key: Key
    item: Mapping[str, Attribute]
    when: tuple[Term, ...] = ()


@dataclass(frozen=True)
class Update:
    """Set, raise and remove attributes of an item.

    What is in `add` must be there; what is in `count` begins with 0 if it is not.
    """

    key: Key
    set: Mapping[str, Attribute] = field(default_factory=dict)
    add: Mapping[str, int] = field(default_factory=dict)
    count: Mapping[str, int] = field(default_factory=dict)
    remove: tuple[str, ...] = ()
    when: tuple[Term, ...] = ()


@dataclass(frozen=True)
class Check:
    """Write nothing; the transaction holds only if the condition does."""

    key: Key
    when: tuple[Term, ...]


@dataclass(frozen=True)
class Delete:
    """Remove an item."""

    key: Key
    when: tuple[Term, ...] = ()


Write: TypeAlias = Put | Update | Delete | Check


@dataclass
class _Placeholders:
    names: dict[str, str] = field(default_factory=dict)
    values: dict[str, AttributeValueTypeDef] = field(default_factory=dict)

    def name(self, attribute: str) -> str:
        self.names.setdefault(f"#{attribute}", attribute)
        return f"#{attribute}"

    def value(self, value: Attribute) -> str:
        placeholder = f":v{len(self.values)}"
        self.values[placeholder] = encoded(value)
        return placeholder

    def condition(self, terms: tuple[Term, ...]) -> str:
        return " AND ".join(self._term(term) for term in terms)

    def _term(self, term: Term) -> str:
        name = self.name(term.attribute)
        if term.operator == "absent":
            return f"attribute_not_exists({name})"
        if term.operator == "present":
            return f"attribute_exists({name})"
        values = ", ".join(self.value(value) for value in term.values)
        if term.operator == "among":
            return f"{name} IN ({values})"
        return f"{name} {term.operator} {values}"


def put_request(table: str, put: Put) -> PutTypeDef:
    """Return the request of a single or transacted put."""
    used = _Placeholders()
    request: PutTypeDef = {
        "TableName": table,
        "Item": {**raw_key(put.key), **{name: encoded(put.item[name]) for name in put.item}},
    }
    if put.when:
        request["ConditionExpression"] = used.condition(put.when)
        request["ReturnValuesOnConditionCheckFailure"] = "ALL_OLD"
    if used.names:
        request["ExpressionAttributeNames"] = used.names
    if used.values:
        request["ExpressionAttributeValues"] = used.values
    return request


def update_request(table: str, update: Update) -> UpdateTypeDef:
    """Return the request of a single or transacted update."""
    used = _Placeholders()
    request: UpdateTypeDef = {
        "TableName": table,
        "Key": raw_key(update.key),
        "UpdateExpression": _changes(update, used),
        "ReturnValuesOnConditionCheckFailure": "ALL_OLD",
    }
    if update.when:
        request["ConditionExpression"] = used.condition(update.when)
    request["ExpressionAttributeNames"] = used.names
    if used.values:
        request["ExpressionAttributeValues"] = used.values
    return request


_DECODERS: Mapping[str, Callable[[object], Attribute]] = {
    "S": str,
    "N": lambda value: int(str(value)),
    "BOOL": bool,
}


def transact_request(table: str, write: Write) -> TransactWriteItemTypeDef:
    """Return one entry of a transaction."""
    if isinstance(write, Put):
        return {"Put": put_request(table, write)}
    if isinstance(write, Update):
        return {"Update": update_request(table, write)}
    if isinstance(write, Delete):
        return {"Delete": _delete_request(table, write)}
    return {"ConditionCheck": _check_request(table, write)}


def raw_key(key: Key) -> dict[str, AttributeValueTypeDef]:
    """Return the key as DynamoDB writes it."""
    return {"pk": {"S": key.pk}, "sk": {"S": key.sk}}


def encoded(value: Attribute) -> AttributeValueTypeDef:
    """Return one attribute as DynamoDB writes it."""
    if isinstance(value, bool):
        return {"BOOL": value}
    if isinstance(value, int):
        return {"N": str(value)}
    return {"S": value}


def decoded(raw: RawItem) -> Item:
    """Return an item that DynamoDB wrote."""
    item: Item = {}
    for name, typed in raw.items():
        for kind, value in typed.items():
            item[name] = _DECODERS[kind](value)
    return item


def _changes(update: Update, used: _Placeholders) -> str:
    clauses = []
    raised = [
        f"{used.name(name)} = {used.name(name)} + {used.value(step)}"
        for name, step in update.add.items()
    ]
    assigned = [f"{used.name(name)} = {used.value(value)}" for name, value in update.set.items()]
    if raised or assigned:
        clauses.append("SET " + ", ".join(assigned + raised))
    if update.count:
        counted = (f"{used.name(name)} {used.value(by)}" for name, by in update.count.items())
        clauses.append("ADD " + ", ".join(counted))
    if update.remove:
        clauses.append("REMOVE " + ", ".join(used.name(name) for name in update.remove))
    return " ".join(clauses)


def _delete_request(table: str, delete: Delete) -> DeleteTypeDef:
    used = _Placeholders()
    request: DeleteTypeDef = {"TableName": table, "Key": raw_key(delete.key)}
    if delete.when:
        request["ConditionExpression"] = used.condition(delete.when)
        request["ExpressionAttributeNames"] = used.names
        request["ReturnValuesOnConditionCheckFailure"] = "ALL_OLD"
    if used.values:
        request["ExpressionAttributeValues"] = used.values
    return request


def _check_request(table: str, check: Check) -> ConditionCheckTypeDef:
    used = _Placeholders()
    request: ConditionCheckTypeDef = {
        "TableName": table,
        "Key": raw_key(check.key),
        "ConditionExpression": used.condition(check.when),
        "ExpressionAttributeNames": used.names,
        "ReturnValuesOnConditionCheckFailure": "ALL_OLD",
    }
    if used.values:
        request["ExpressionAttributeValues"] = used.values
    return request
