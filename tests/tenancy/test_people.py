from __future__ import annotations

from dataclasses import replace

import pytest

from stellwerk.kernel.errors import Conflict
from stellwerk.kernel.ids import UserId
from stellwerk.tenancy.model import User
from stellwerk.tenancy.people import People
from stellwerk.tenancy.ports import Members
from stellwerk.tenancy.signin import SignIn
from tests.fakes.directory import FakeMembers
from tests.tenancy.world import FEATURES, World

ADDRESS = "eva@muster.example"


class Behind(FakeMembers):
    """Members whose first look-up by address, and by token, sees what was there a moment ago."""

    def __init__(self, members: Members, seen: User | None) -> None:
        assert isinstance(members, FakeMembers)
        super().__init__(members._records)
        self._seen: list[User | None] = [seen]

    def by_email(self, email: str) -> User | None:
        return self._seen.pop() if self._seen else super().by_email(email)

    def by_subject(self, issuer: str, subject: str) -> User | None:
        return None if self._seen else super().by_subject(issuer, subject)


def eva(world: World, **changes: object) -> User:
    """Write Eva, who was invited, as she is a moment later."""
    invited = User(id=UserId("u-eva"), email=ADDRESS, name="Eva", created=world.clock.now())
    return world.directory.members.write_user(invited.model_copy(update=changes))


def test_whoever_was_invited_by_another_in_this_moment_is_the_one(world: World) -> None:
    behind = Behind(world.directory.members, None)
    first = eva(world)
    assert People(behind, world.clock).invited(ADDRESS, "Eva Neu") == first


def test_a_conflict_about_something_else_is_one(world: World) -> None:
    class Refusing(FakeMembers):
        def write_user(self, user: User, before: User | None = None) -> User:
            raise Conflict("no")

    members = world.directory.members
    assert isinstance(members, FakeMembers)
    with pytest.raises(Conflict):
        People(Refusing(members._records), world.clock).invited(ADDRESS)


def test_two_first_requests_of_one_person_link_one_user(world: World) -> None:
    invited = eva(world)
    token = {"issuer": "https://issuer.example", "subject": "s-eva"}
    linked = world.directory.members.write_user(invited.model_copy(update=token), invited)
    behind = replace(world.directory, members=Behind(world.directory.members, invited))
    signing = SignIn(behind, FEATURES, audit=world.audit, clock=world.clock)
    claims = world.claims("s-eva", email=ADDRESS, email_verified=True)
    assert signing.user(claims) == linked
