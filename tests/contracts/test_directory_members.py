from __future__ import annotations

from datetime import timedelta

import pytest

from stellwerk.kernel.errors import Conflict, NotFound
from stellwerk.kernel.ids import InstanceId, MandateId, UserId
from stellwerk.tenancy.model import FeatureAccess, MachineSecret, User, UserMandate
from stellwerk.tenancy.ports import MACHINES, PEOPLE, Directory, Standing
from stellwerk.tenancy.scope import of_platform
from tests.contracts.directories import (
    ANNA,
    AT_INSTANCE,
    AT_MANDATE,
    INSTANCE,
    MANDATE,
    access,
    instance,
    mandate,
    membership,
    on_moto,
    user,
)
from tests.contracts.records import START
from tests.contracts.stores import Moto

ISSUER = "https://issuer.example"
BEN = UserId("u-ben")


def anna(directory: Directory) -> tuple[UserMandate, FeatureAccess]:
    """Write Anna into the mandate and its instance."""
    directory.members.write_user(user(subject="s-anna"))
    directory.mandates.write_mandate(AT_MANDATE, mandate())
    directory.mandates.write_instance(AT_MANDATE, instance())
    return (
        directory.members.write_membership(AT_MANDATE, membership()),
        directory.members.write_access(AT_INSTANCE, access()),
    )


def test_a_user_is_found_by_id_token_and_address(directory: Directory) -> None:
    stored = directory.members.write_user(user(email="Anna@Example.org", subject="s-anna"))
    assert stored.revision == 1
    assert directory.members.user(ANNA) == stored
    assert directory.members.users([ANNA, BEN]) == {ANNA: stored}
    assert directory.members.by_subject(ISSUER, "s-anna") == stored
    assert directory.members.by_email(" anna@example.ORG") == stored
    assert directory.members.by_subject(ISSUER, "s-ben") is None
    assert directory.members.by_subject("https://other.example", "s-anna") is None
    assert directory.members.by_email("ben@example.org") is None
    with pytest.raises(NotFound):
        directory.members.user(BEN)


def test_a_user_found_by_token_is_as_last_written(directory: Directory) -> None:
    first = directory.members.write_user(user(subject="s-anna"))
    changed = first.model_copy(update={"active": False, "language": "en"})
    second = directory.members.write_user(changed, first)
    assert directory.members.by_subject(ISSUER, "s-anna") == second
    assert not second.active


def test_an_invited_person_gets_a_token(directory: Directory) -> None:
    invited = directory.members.write_user(user(email="anna@example.org"))
    assert directory.members.by_subject("", "") is None
    linked = invited.model_copy(update={"issuer": ISSUER, "subject": "s-anna"})
    stored = directory.members.write_user(linked, invited)
    assert directory.members.by_subject(ISSUER, "s-anna") == stored


def test_a_token_and_an_address_that_were_given_up_are_free(directory: Directory) -> None:
    first = directory.members.write_user(user(email="a@example.org", subject="one"))
    moved = first.model_copy(update={"email": "b@example.org", "subject": "two"})
    second = directory.members.write_user(moved, first)
    assert directory.members.by_subject(ISSUER, "one") is None
    assert directory.members.by_email("a@example.org") is None
    assert directory.members.by_subject(ISSUER, "two") == second
    ben = directory.members.write_user(user(BEN, email="a@example.org", subject="one"))
    assert directory.members.by_email("a@example.org") == ben


@pytest.mark.parametrize(
    "second",
    [user(BEN, email="ANNA@example.org"), user(BEN, subject="s-anna"), user(ANNA)],
    ids=["address", "token", "id"],
)
def test_addresses_tokens_and_ids_are_taken_once(directory: Directory, second: User) -> None:
    stored = directory.members.write_user(user(email="anna@example.org", subject="s-anna"))
    with pytest.raises(Conflict):
        directory.members.write_user(second)
    assert directory.members.user(ANNA) == stored
    assert directory.members.users([BEN]) == {}


def test_many_users_without_address_or_token_can_be(directory: Directory) -> None:
    directory.members.write_user(user(ANNA))
    directory.members.write_user(user(BEN))
    assert set(directory.members.users([ANNA, BEN])) == {ANNA, BEN}
    assert directory.members.by_email("") is None


def test_a_secret_is_replaced_on_its_revision(directory: Directory) -> None:
    assert directory.members.secret(ANNA) is None
    new = MachineSecret(user=ANNA, sha256="aa", created=START)
    stored = directory.members.write_secret(new)
    assert directory.members.secret(ANNA) == stored
    renewed = stored.model_copy(update={"sha256": "bb", "created": START + timedelta(days=1)})
    assert directory.members.write_secret(renewed).revision == 2
    with pytest.raises(Conflict):
        directory.members.write_secret(renewed)


def test_a_standing_is_all_of_a_place(directory: Directory) -> None:
    member, entry = anna(directory)
    stored = directory.mandates.mandate(AT_MANDATE)
    inside = directory.mandates.instance(AT_MANDATE, INSTANCE)
    standing = directory.members.standing
    assert standing(AT_INSTANCE, ANNA) == Standing(stored, member, inside, entry)
    assert standing(AT_MANDATE, ANNA) == Standing(stored, member, None, None)
    assert standing(AT_INSTANCE, BEN) == Standing(stored, None, inside, None)
    elsewhere = of_platform(MandateId("m-none"))
    assert standing(elsewhere, ANNA) == Standing(None, None, None, None)


def test_members_and_accesses_are_listed_by_user_in_pages(directory: Directory) -> None:
    names = [UserId(f"u-{number}") for number in range(5)]
    for name in names:
        directory.members.write_user(user(name))
        directory.members.write_membership(AT_MANDATE, membership(name))
        directory.members.write_access(AT_INSTANCE, access(name))
    members = directory.members.members(AT_MANDATE, cursor=None, limit=3)
    rest = directory.members.members(AT_MANDATE, cursor=members.cursor, limit=3)
    assert [item.user for item in [*members.items, *rest.items]] == names
    accesses = directory.members.accesses(AT_INSTANCE, cursor=None, limit=2)
    others = directory.members.accesses(AT_INSTANCE, cursor=accesses.cursor, limit=100)
    assert [item.user for item in [*accesses.items, *others.items]] == names
    assert (rest.cursor, others.cursor) == (None, None)


def test_people_and_machines_are_listed_apart(directory: Directory) -> None:
    names = [UserId(f"{kind}-{number}") for kind in "cuv" for number in range(3)]
    for name in names:
        directory.members.write_user(user(name))
        directory.members.write_membership(AT_MANDATE, membership(name))
    first = directory.members.members(AT_MANDATE, cursor=None, limit=2, ids=PEOPLE)
    rest = directory.members.members(AT_MANDATE, cursor=first.cursor, limit=2, ids=PEOPLE)
    assert [item.user for item in [*first.items, *rest.items]] == names[3:6]
    assert rest.cursor is None
    machines = directory.members.members(AT_MANDATE, cursor=None, limit=9, ids=MACHINES)
    assert [item.user for item in machines.items] == names[:3]


def test_a_user_s_places_are_those_of_all_mandates(directory: Directory) -> None:
    member, entry = anna(directory)
    second = of_platform(MandateId("m-two"))
    other = directory.members.write_membership(second, membership(mandate=second.mandate))
    assert directory.members.places(ANNA) == [member, entry, other]
    assert directory.members.places(BEN) == []


def test_only_users_that_exist_become_members(directory: Directory) -> None:
    with pytest.raises(NotFound):
        directory.members.write_membership(AT_MANDATE, membership(BEN))
    assert directory.members.members(AT_MANDATE, cursor=None, limit=9).items == []
    assert directory.members.places(BEN) == []


def test_only_members_come_into_an_instance(directory: Directory) -> None:
    directory.members.write_user(user())
    with pytest.raises(NotFound):
        directory.members.write_access(AT_INSTANCE, access())
    assert directory.members.accesses(AT_INSTANCE, cursor=None, limit=9).items == []


def test_memberships_and_accesses_are_written_on_their_revision(directory: Directory) -> None:
    member, entry = anna(directory)
    assert directory.members.write_membership(AT_MANDATE, member).revision == 2
    assert directory.members.write_access(AT_INSTANCE, entry).revision == 2
    before = directory.members.places(ANNA)
    for stale in (member, membership()):
        with pytest.raises(Conflict):
            directory.members.write_membership(AT_MANDATE, stale)
    for old in (entry, access()):
        with pytest.raises(Conflict):
            directory.members.write_access(AT_INSTANCE, old)
    assert directory.members.places(ANNA) == before


def test_with_a_membership_all_accesses_go(directory: Directory) -> None:
    anna(directory)
    for number in range(45):
        scope = AT_MANDATE.at(InstanceId(f"i-{number}"))
        directory.members.write_access(scope, access(scope=scope))
    longer = of_platform(MandateId(f"{MANDATE}-b"))
    kept = directory.members.write_membership(longer, membership(mandate=longer.mandate))
    directory.members.remove_membership(AT_MANDATE, ANNA)
    assert directory.members.places(ANNA) == [kept]
    assert directory.members.accesses(AT_INSTANCE, cursor=None, limit=9).items == []
    with pytest.raises(NotFound):
        directory.members.remove_membership(AT_MANDATE, ANNA)


def test_a_new_membership_begins_without_the_old_accesses(directory: Directory) -> None:
    anna(directory)
    directory.members.remove_membership(AT_MANDATE, ANNA)
    back = directory.members.write_membership(AT_MANDATE, membership())
    assert directory.members.places(ANNA) == [back]


def test_an_access_is_removed_alone(directory: Directory) -> None:
    member, _ = anna(directory)
    directory.members.remove_access(AT_INSTANCE, ANNA)
    assert directory.members.places(ANNA) == [member]
    with pytest.raises(NotFound):
        directory.members.remove_access(AT_INSTANCE, ANNA)


def test_what_comes_out_of_turn_changes_nothing(directory: Directory) -> None:
    member, entry = anna(directory)
    directory.members.write_membership(AT_MANDATE, member, turn=0)
    directory.members.write_access(AT_INSTANCE, entry, turn=0)
    before = directory.members.places(ANNA)
    with pytest.raises(Conflict):
        directory.members.remove_membership(AT_MANDATE, ANNA, turn=0)
    with pytest.raises(Conflict):
        directory.members.remove_access(AT_INSTANCE, ANNA, turn=0)
    assert directory.members.places(ANNA) == before
    assert (directory.roles.turn(AT_MANDATE), directory.roles.turn(AT_INSTANCE)) == (1, 1)


def test_coming_in_takes_one_request_each_for_user_and_standing(moto: Moto) -> None:
    directory, counted = on_moto(moto)
    anna(directory)
    counted.requests.clear()
    directory.members.by_subject(ISSUER, "s-anna")
    directory.members.standing(AT_INSTANCE, ANNA)
    assert counted.requests == ["get_item", "batch_get_item"]
