"""Directories under one contract, and records to keep in them."""

from __future__ import annotations

import itertools
from typing import TYPE_CHECKING, cast

from stellwerk.aws import directory as dynamo
from stellwerk.aws import tables
from stellwerk.aws.bodies import Bodies
from stellwerk.aws.items import Items
from stellwerk.kernel.ids import InstanceId, MandateId, RoleId, UserId
from stellwerk.tenancy.access import AccessRule, Context, Level
from stellwerk.tenancy.model import (
    FeatureAccess,
    FeatureInstance,
    Mandate,
    Role,
    User,
    UserMandate,
)
from stellwerk.tenancy.ports import Directory
from stellwerk.tenancy.scope import NO_INSTANCE, Scope, of_platform
from tests.contracts.records import START
from tests.contracts.stores import Moto, OneAtATime
from tests.fakes.memory import Memory
from tests.fakes.versions import FakeValues

if TYPE_CHECKING:
    from mypy_boto3_dynamodb import DynamoDBClient

_NUMBERS = itertools.count()
MANDATE = MandateId("m-one")
INSTANCE = InstanceId("i-one")
ANNA = UserId("u-anna")
AT_MANDATE = of_platform(MANDATE)
AT_INSTANCE = AT_MANDATE.at(INSTANCE)
PLATFORM = of_platform()
RULE = AccessRule(context=Context.DATA, view=True, read=Level.ALL)


def on_moto(moto: Moto) -> tuple[Directory, OneAtATime]:
    """Return an empty directory on a table of its own, and the client that counts its requests."""
    table = f"directory-{next(_NUMBERS)}"
    moto.dynamodb.create_table(**tables.creation(tables.PLATFORM, table))
    counted = OneAtATime(moto.dynamodb)
    items = Items(cast("DynamoDBClient", counted), table)
    return dynamo.directory(items, Bodies(FakeValues(Memory()))), counted


def mandate(identity: MandateId = MANDATE) -> Mandate:
    """Return a new mandate."""
    return Mandate(id=identity, label="Müller & Söhne", created_by=ANNA, created=START)


def instance(identity: InstanceId = INSTANCE, mandate: MandateId = MANDATE) -> FeatureInstance:
    """Return a new instance."""
    return FeatureInstance(
        id=identity,
        mandate=mandate,
        feature="graphicalEditor",
        label="Editor",
        created_by=ANNA,
        created=START,
    )


def role(scope: Scope = AT_MANDATE, identity: str = "r-one") -> Role:
    """Return a new role of the scope's place."""
    system = scope == PLATFORM
    return Role(
        id=RoleId(identity),
        label=identity,
        mandate=None if system else scope.mandate,
        instance=None if scope.instance == NO_INSTANCE else scope.instance,
        rules=(RULE,),
    )


def user(identity: UserId = ANNA, email: str = "", subject: str = "") -> User:
    """Return a new person."""
    return User(
        id=identity,
        name=identity.title(),
        email=email,
        issuer="https://issuer.example" if subject else "",
        subject=subject,
        created=START,
    )


def membership(user: UserId = ANNA, mandate: MandateId = MANDATE) -> UserMandate:
    """Return a new membership."""
    return UserMandate(mandate=mandate, user=user, roles=(RoleId("r-one"),))


def access(user: UserId = ANNA, scope: Scope = AT_INSTANCE) -> FeatureAccess:
    """Return a new access."""
    return FeatureAccess(mandate=scope.mandate, instance=scope.instance, user=user)
