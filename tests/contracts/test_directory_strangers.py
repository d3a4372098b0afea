"""Every method of the directory that takes a scope, called with a foreign one."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import TypeVar

import pytest

from stellwerk.kernel.errors import Conflict, NotFound
from stellwerk.kernel.ids import InstanceId, MandateId, RoleId
from stellwerk.kernel.pages import Page
from stellwerk.tenancy.access import Place
from stellwerk.tenancy.ports import Directory, Mandates, Members, RoleAt, Roles
from stellwerk.tenancy.scope import NO_INSTANCE, Scope, of_platform
from tests.contracts.directories import (
    ANNA,
    AT_INSTANCE,
    AT_MANDATE,
    INSTANCE,
    MANDATE,
    PLATFORM,
    access,
    instance,
    mandate,
    membership,
    role,
    user,
)

STRANGERS = [
    of_platform(MandateId("m-two")),
    of_platform(MandateId("m-two")).at(INSTANCE),
    of_platform(MandateId("m-one#")),
]
NEIGHBOUR = AT_MANDATE.at(InstanceId("i-two"))
ROLE = RoleId("r-one")
T = TypeVar("T")
Call = Callable[[Directory, Scope], object]

FINDS_NOTHING: dict[str, Call] = {
    "mandates": lambda stores, scope: items(stores.mandates.mandates(scope, cursor=None, limit=9)),
    "ids": lambda stores, scope: list(stores.mandates.ids(scope, after=None, limit=9)),
    "instances": lambda stores, scope: list(stores.mandates.instances(scope)),
    "at": lambda stores, scope: list(stores.mandates.at(scope, [Place(MANDATE, NO_INSTANCE)])),
    "roles": lambda stores, scope: list(stores.roles.roles(scope)),
    "some": lambda stores, scope: list(stores.roles.some(scope, [RoleAt(MANDATE, INSTANCE, ROLE)])),
    "turn": lambda stores, scope: [number for number in [stores.roles.turn(scope)] if number],
    "standing": lambda stores, scope: [
        record for record in vars(stores.members.standing(scope, ANNA)).values() if record
    ],
    "members": lambda stores, scope: items(stores.members.members(scope, cursor=None, limit=9)),
    "accesses": lambda stores, scope: items(stores.members.accesses(scope, cursor=None, limit=9)),
}
REFUSED: dict[str, Call] = {
    "mandate": lambda stores, scope: stores.mandates.mandate(scope),
    "write_mandate": lambda stores, scope: stores.mandates.write_mandate(
        scope, stores.mandates.mandate(AT_MANDATE)
    ),
    "instance": lambda stores, scope: stores.mandates.instance(scope, INSTANCE),
    "write_instance": lambda stores, scope: stores.mandates.write_instance(
        scope, stores.mandates.instance(AT_MANDATE, INSTANCE)
    ),
    "role": lambda stores, scope: stores.roles.role(scope, ROLE),
    "write_role": lambda stores, scope: stores.roles.write_role(
        scope, stores.roles.role(AT_INSTANCE, ROLE)
    ),
    "delete_role": lambda stores, scope: stores.roles.delete_role(
        scope, stores.roles.role(AT_INSTANCE, ROLE)
    ),
    "write_membership": lambda stores, scope: stores.members.write_membership(
        scope, items(stores.members.members(AT_MANDATE, cursor=None, limit=9))[0]
    ),
    "write_access": lambda stores, scope: stores.members.write_access(
        scope, items(stores.members.accesses(AT_INSTANCE, cursor=None, limit=9))[0]
    ),
    "remove_membership": lambda stores, scope: stores.members.remove_membership(scope, ANNA),
    "remove_access": lambda stores, scope: stores.members.remove_access(scope, ANNA),
}
OF_THE_INSTANCE = {"roles", "turn", "accesses", "role", "write_role", "delete_role"} | {
    "write_access",
    "remove_access",
}


def items(page: Page[T]) -> list[T]:
    return list(page.items)


def place(scope: Scope) -> str:
    """Return what to call a scope's place."""
    return f"{scope.mandate}/{scope.instance}"


def everything(stores: Directory) -> list[object]:
    """Return all that is stored of the mandate."""
    return [
        stores.mandates.mandate(AT_MANDATE),
        stores.mandates.instances(AT_MANDATE),
        stores.roles.roles(AT_MANDATE),
        stores.roles.roles(AT_INSTANCE),
        stores.roles.turn(AT_INSTANCE),
        stores.members.places(ANNA),
        items(stores.mandates.mandates(PLATFORM, cursor=None, limit=9)),
    ]


@pytest.fixture
def full(directory: Directory) -> Directory:
    """A directory with something of each kind."""
    directory.members.write_user(user())
    directory.mandates.write_mandate(AT_MANDATE, mandate())
    directory.mandates.write_instance(AT_MANDATE, instance())
    directory.roles.write_role(AT_MANDATE, role())
    stored = directory.roles.write_role(AT_INSTANCE, role(AT_INSTANCE))
    directory.members.write_membership(AT_MANDATE, membership())
    directory.members.write_access(AT_INSTANCE, access())
    directory.roles.write_role(AT_INSTANCE, stored, turn=0)
    return directory


def test_every_method_with_a_scope_is_tested_here() -> None:
    methods = {
        name
        for store in (Mandates, Roles, Members)
        for name, method in inspect.getmembers(store, inspect.isfunction)
        if "scope" in inspect.signature(method).parameters
    }
    assert methods == FINDS_NOTHING.keys() | REFUSED.keys()


@pytest.mark.parametrize("stranger", STRANGERS, ids=place)
@pytest.mark.parametrize("method", FINDS_NOTHING)
def test_a_stranger_finds_nothing(full: Directory, method: str, stranger: Scope) -> None:
    assert FINDS_NOTHING[method](full, stranger) == []


@pytest.mark.parametrize("stranger", STRANGERS, ids=place)
@pytest.mark.parametrize("method", REFUSED)
def test_a_stranger_changes_nothing(full: Directory, method: str, stranger: Scope) -> None:
    before = everything(full)
    with pytest.raises((NotFound, Conflict)):
        REFUSED[method](full, stranger)
    assert everything(full) == before


@pytest.mark.parametrize("method", sorted(OF_THE_INSTANCE))
def test_a_neighbour_instance_is_as_foreign(full: Directory, method: str) -> None:
    before = everything(full)
    if method in FINDS_NOTHING:
        assert FINDS_NOTHING[method](full, NEIGHBOUR) == []
    else:
        with pytest.raises((NotFound, Conflict)):
            REFUSED[method](full, NEIGHBOUR)
    assert everything(full) == before
