"""Writes the companies into a fresh local cloud. What is there already stays as it is."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress

from localcloud.seeding.people import COMPANIES, OUTSIDER, ROOT, Company, Person
from stellwerk.kernel.clock import Clock
from stellwerk.kernel.errors import Conflict, NotFound
from stellwerk.kernel.ids import InstanceId, MandateId, RoleId
from stellwerk.tenancy.features import Feature
from stellwerk.tenancy.model import (
    FeatureAccess,
    FeatureInstance,
    Mandate,
    Role,
    User,
    UserMandate,
)
from stellwerk.tenancy.ports import Directory
from stellwerk.tenancy.scope import of_platform
from stellwerk.tenancy.templates import (
    SYSTEM_ADMIN,
    USER,
    copies,
    feature_templates,
    system_admin,
    system_templates,
)

_UNLESS_THERE = suppress(Conflict)
"""Around the write of a new record."""


class Seeds:
    """Seeds a directory whose users come from one issuer.

    Every write is one of a new record: a second run, or one after a crash, meets those of the first
    and goes on. The system administrator is written last and says that all is there.
    """

    def __init__(
        self, directory: Directory, features: Mapping[str, Feature], *, issuer: str, clock: Clock
    ) -> None:
        self._directory = directory
        self._features = features
        self._issuer = issuer
        self._clock = clock

    def sow(self) -> bool:
        """Write all; return whether anything was missing."""
        with suppress(NotFound):
            if self._directory.members.user(ROOT.id).issuer == self._issuer:
                return False
        for company in COMPANIES:
            self._company(company)
        platform = of_platform()
        with _UNLESS_THERE:
            self._directory.roles.write_role(platform, system_admin())
        self._person(ROOT, (SYSTEM_ADMIN,))
        return True

    def _company(self, company: Company) -> None:
        for person in company.people:
            self._person(person)
        scope = of_platform(company.id)
        for role in copies(system_templates(), company.id, new_id=_named(company.id)):
            with _UNLESS_THERE:
                self._directory.roles.write_role(scope, role)
        for person in company.people:
            part = USER if person.part == OUTSIDER else person.part
            member = UserMandate(mandate=company.id, user=person.id, roles=(_id(company.id, part),))
            with _UNLESS_THERE:
                self._directory.members.write_membership(scope, member)
        for instance in company.instances:
            self._instance(company, instance)
        mandate = Mandate(
            id=company.id,
            label=company.label,
            created_by=ROOT.id,
            created=self._clock.now(),
        )
        with _UNLESS_THERE:
            self._directory.mandates.write_mandate(scope, mandate)

    def _instance(self, company: Company, identity: InstanceId) -> None:
        code, label = company.instances[identity]
        feature, scope = self._features[code], of_platform(company.id).at(identity)
        templates = feature_templates(feature)
        own = copies(templates, company.id, identity, new_id=_named(identity))
        for role in (*own, *_desks(company, identity)):
            with _UNLESS_THERE:
                self._directory.roles.write_role(scope, role)
        for access in _accesses(company, identity):
            with _UNLESS_THERE:
                self._directory.members.write_access(scope, access)
        instance = FeatureInstance(
            id=identity,
            mandate=company.id,
            feature=code,
            label=label,
            created_by=company.people[0].id,
            created=self._clock.now(),
        )
        with _UNLESS_THERE:
            self._directory.mandates.write_instance(of_platform(company.id), instance)

    def _person(self, person: Person, roles: tuple[RoleId, ...] = ()) -> None:
        """Write a user; one of an issuer that was at another address comes from this one now."""
        members = self._directory.members
        user = User(
            id=person.id,
            issuer=self._issuer,
            subject=str(person.id),
            email=person.email,
            name=person.name,
            roles=roles,
            created=self._clock.now(),
        )
        try:
            stored = members.user(person.id)
        except NotFound:
            members.write_user(user)
        else:
            members.write_user(stored.model_copy(update={"issuer": self._issuer}), stored)


def _accesses(company: Company, instance: InstanceId) -> Iterator[FeatureAccess]:
    code, _ = company.instances[instance]
    for person in company.people:
        if person.part != OUTSIDER:
            labels = (f"{code}-{person.part}", *person.desks)
            yield FeatureAccess(
                mandate=company.id,
                instance=instance,
                user=person.id,
                roles=tuple(_id(instance, label) for label in labels),
            )


def _desks(company: Company, instance: InstanceId) -> Iterator[Role]:
    """Yield roles without rules: who holds one finds its tasks in the inbox."""
    for desk in sorted({desk for person in company.people for desk in person.desks}):
        yield Role(
            id=_id(instance, desk),
            label=desk,
            description="Gets tasks of the samples.",
            mandate=company.id,
            instance=instance,
        )


def _named(place: MandateId | InstanceId) -> Callable[[Role], RoleId]:
    return lambda template: _id(place, template.label)


def _id(place: MandateId | InstanceId, label: str) -> RoleId:
    return RoleId(f"r-{place}-{label}")
