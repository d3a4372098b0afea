from __future__ import annotations

import pytest

from stellwerk.kernel.errors import BadInput, Conflict, NotFound
from stellwerk.kernel.ids import InstanceId, MandateId, RoleId
from stellwerk.tenancy.access import Place
from stellwerk.tenancy.ports import Directory, RoleAt
from stellwerk.tenancy.scope import NO_INSTANCE, SYSTEM, Scope, of_platform
from tests.contracts.directories import (
    AT_INSTANCE,
    AT_MANDATE,
    INSTANCE,
    MANDATE,
    PLATFORM,
    instance,
    mandate,
    role,
)

PLACES = [PLATFORM, AT_MANDATE, AT_INSTANCE]


def test_a_mandate_is_written_and_read(directory: Directory) -> None:
    stored = directory.mandates.write_mandate(AT_MANDATE, mandate())
    assert stored == mandate().model_copy(update={"revision": 1})
    assert directory.mandates.mandate(AT_MANDATE) == stored
    renamed = stored.model_copy(update={"label": "Müller AG"})
    assert directory.mandates.write_mandate(AT_MANDATE, renamed).revision == 2
    assert directory.mandates.mandate(AT_MANDATE).label == "Müller AG"


@pytest.mark.parametrize("revision", [0, 2])
def test_a_mandate_is_written_on_its_revision_alone(directory: Directory, revision: int) -> None:
    stored = directory.mandates.write_mandate(AT_MANDATE, mandate())
    with pytest.raises(Conflict):
        directory.mandates.write_mandate(
            AT_MANDATE, mandate().model_copy(update={"revision": revision, "label": "Other"})
        )
    assert directory.mandates.mandate(AT_MANDATE) == stored


def test_the_platform_lists_all_mandates_in_pages(directory: Directory) -> None:
    names = [MandateId(f"m-{number}") for number in range(5)]
    for name in reversed(names):
        stored = directory.mandates.write_mandate(of_platform(name), mandate(name))
        directory.mandates.write_mandate(of_platform(name), stored)
    first = directory.mandates.mandates(PLATFORM, cursor=None, limit=3)
    rest = directory.mandates.mandates(PLATFORM, cursor=first.cursor, limit=3)
    assert [item.id for item in [*first.items, *rest.items]] == names
    assert {item.revision for item in first.items} == {2}
    assert rest.cursor is None
    with pytest.raises(BadInput):
        directory.mandates.mandates(PLATFORM, cursor="nonsense", limit=3)


def test_the_platform_lists_ids_of_mandates_behind_one(directory: Directory) -> None:
    names = [MandateId(f"m-{number}") for number in range(5)]
    for name in reversed(names):
        directory.mandates.write_mandate(of_platform(name), mandate(name))
    assert directory.mandates.ids(PLATFORM, after=None, limit=3) == names[:3]
    assert directory.mandates.ids(PLATFORM, after=names[2], limit=3) == names[3:]
    assert directory.mandates.ids(PLATFORM, after=MandateId("m-1-gone"), limit=1) == names[2:3]
    assert directory.mandates.ids(PLATFORM, after=names[4], limit=3) == []


def test_instances_are_listed_by_id(directory: Directory) -> None:
    for name in ("i-c", "i-a", "i-b"):
        directory.mandates.write_instance(AT_MANDATE, instance(InstanceId(name)))
    listed = directory.mandates.instances(AT_MANDATE)
    assert [item.id for item in listed] == ["i-a", "i-b", "i-c"]
    assert directory.mandates.instance(AT_MANDATE, InstanceId("i-b")) == listed[1]
    with pytest.raises(Conflict):
        directory.mandates.write_instance(AT_MANDATE, instance(InstanceId("i-a")))
    with pytest.raises(NotFound):
        directory.mandates.instance(AT_MANDATE, InstanceId("i-d"))


def test_the_platform_reads_places_of_any_mandate_in_one_batch(directory: Directory) -> None:
    one = directory.mandates.write_mandate(AT_MANDATE, mandate())
    inside = directory.mandates.write_instance(AT_MANDATE, instance())
    here, there = Place(MANDATE, NO_INSTANCE), Place(MANDATE, INSTANCE)
    nowhere = Place(MandateId("m-none"), NO_INSTANCE)
    assert directory.mandates.at(PLATFORM, [here, there, nowhere]) == {here: one, there: inside}
    assert directory.mandates.at(PLATFORM, []) == {}


@pytest.mark.parametrize("scope", PLACES)
def test_a_role_is_kept_at_its_place_alone(directory: Directory, scope: Scope) -> None:
    stored = directory.roles.write_role(scope, role(scope))
    assert directory.roles.role(scope, stored.id) == stored
    assert directory.roles.roles(scope) == [stored]
    for other in PLACES:
        if other != scope:
            assert directory.roles.roles(other) == []
            with pytest.raises(NotFound):
                directory.roles.role(other, stored.id)
            with pytest.raises(NotFound):
                directory.roles.write_role(other, stored)


def test_a_role_is_written_and_removed_on_its_revision_alone(directory: Directory) -> None:
    first = directory.roles.write_role(AT_MANDATE, role())
    second = directory.roles.write_role(AT_MANDATE, first)
    with pytest.raises(Conflict):
        directory.roles.write_role(AT_MANDATE, first)
    with pytest.raises(Conflict):
        directory.roles.delete_role(AT_MANDATE, first)
    assert directory.roles.role(AT_MANDATE, first.id) == second
    directory.roles.delete_role(AT_MANDATE, second)
    assert directory.roles.roles(AT_MANDATE) == []


def test_roles_of_several_places_come_in_one_batch(directory: Directory) -> None:
    for scope in PLACES:
        directory.roles.write_role(scope, role(scope))
    wanted = [
        RoleAt(SYSTEM, NO_INSTANCE, RoleId("r-one")),
        RoleAt(MANDATE, NO_INSTANCE, RoleId("r-one")),
        RoleAt(MANDATE, INSTANCE, RoleId("r-one")),
        RoleAt(MANDATE, INSTANCE, RoleId("r-none")),
    ]
    found = directory.roles.some(AT_MANDATE, wanted)
    assert list(found) == wanted[:3]
    assert [item.instance for item in found.values()] == [None, None, INSTANCE]
    assert directory.roles.some(PLATFORM, wanted) == found
    assert directory.roles.some(AT_MANDATE, []) == {}


def test_turns_are_taken_one_after_the_other(directory: Directory) -> None:
    stored = directory.roles.write_role(AT_MANDATE, role())
    assert directory.roles.turn(AT_MANDATE) == 0
    stored = directory.roles.write_role(AT_MANDATE, stored, turn=0)
    stored = directory.roles.write_role(AT_MANDATE, stored, turn=1)
    with pytest.raises(Conflict):
        directory.roles.write_role(AT_MANDATE, stored, turn=1)
    with pytest.raises(Conflict):
        directory.roles.delete_role(AT_MANDATE, stored, turn=0)
    assert directory.roles.turn(AT_MANDATE) == 2
    assert directory.roles.turn(AT_INSTANCE) == 0
    assert directory.roles.role(AT_MANDATE, stored.id) == stored
