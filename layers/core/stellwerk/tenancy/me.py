"""What a user sees: the mandates and instances where it belongs, and there pages and operations."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from stellwerk.kernel.ids import MandateId
from stellwerk.tenancy.access import Context, Grant, Place, Principal, Verb, decide
from stellwerk.tenancy.features import Feature, Features
from stellwerk.tenancy.model import FeatureAccess, FeatureInstance, Mandate, Role, User, UserMandate
from stellwerk.tenancy.ports import Directory, RoleAt
from stellwerk.tenancy.principals import Held, at_instance, at_mandate, globally, granted
from stellwerk.tenancy.scope import ADMINISTRATION, NO_INSTANCE, SYSTEM, of_platform


@dataclass(frozen=True)
class Seen:
    """What someone sees at a place: labels of own roles there, and items of the feature."""

    roles: tuple[str, ...]
    ui: tuple[str, ...]
    operations: tuple[str, ...]


@dataclass(frozen=True)
class InstanceSeen:
    """An instance as its user sees it."""

    instance: FeatureInstance
    feature: Feature
    seen: Seen


@dataclass(frozen=True)
class MandateSeen:
    """A mandate as its member sees it: what of the administration, and the instances."""

    mandate: Mandate
    seen: Seen
    instances: tuple[InstanceSeen, ...]


@dataclass(frozen=True)
class Me:
    """A user, what it sees of the platform itself, and its mandates by id."""

    user: User
    platform: Seen
    mandates: tuple[MandateSeen, ...]


class Overview:
    """Says what a user sees. Requests: 4, however many mandates there are (to 100 places).

    Where each mandate's data is reached by a session of its own, 1 and 3 for each mandate.
    """

    def __init__(self, directory: Directory, features: Features) -> None:
        self._directory = directory
        self._features = features

    def of(self, user: User) -> Me:
        """Return what the user sees; places that are gone or not active are left out."""
        platform = of_platform()
        belongs = self._directory.members.places(user.id)
        stored = self._directory.mandates.at(platform, [_place(one) for one in belongs])
        held = globally(user) + [role for one in belongs for role in _held(one)]
        roles = self._directory.roles.some(platform, [role.at for role in held])
        view = _View(user, self._features.all(), stored, belongs, held=held, roles=roles)
        return Me(user, view.platform(), tuple(view.mandates()))


class _View:
    """All that was read for one user."""

    def __init__(
        self,
        user: User,
        features: Mapping[str, Feature],
        stored: Mapping[Place, Mandate | FeatureInstance],
        belongs: Sequence[UserMandate | FeatureAccess],
        *,
        held: Sequence[Held],
        roles: Mapping[RoleAt, Role],
    ) -> None:
        self._user = user
        self._features = features
        self._stored = stored
        self._belongs = belongs
        self._held = held
        self._roles = roles

    def platform(self) -> Seen:
        """Return what global roles let the user see."""
        return self._seen(Place(SYSTEM, NO_INSTANCE), self._features[ADMINISTRATION])

    def mandates(self) -> Iterator[MandateSeen]:
        """Yield the mandates where the user is an active member."""
        for one in self._belongs:
            if not isinstance(one, UserMandate) or not one.active:
                continue
            mandate = self._stored.get(_place(one))
            if isinstance(mandate, Mandate) and mandate.active:
                seen = self._seen(_place(one), self._features[ADMINISTRATION])
                yield MandateSeen(mandate, seen, tuple(self._instances(mandate.id)))

    def _instances(self, mandate: MandateId) -> Iterator[InstanceSeen]:
        for one in self._belongs:
            if not isinstance(one, FeatureAccess) or one.mandate != mandate:
                continue
            instance = self._stored.get(_place(one))
            if isinstance(instance, FeatureInstance) and instance.active:
                feature = self._features.get(instance.feature)
                if feature is not None:
                    yield InstanceSeen(instance, feature, self._seen(_place(one), feature))

    def _seen(self, place: Place, feature: Feature) -> Seen:
        grants = self._grants(place)
        principal = Principal(self._user.id, grants)

        def visible(context: Context, item: str) -> bool:
            return decide(principal, context, item, Verb.VIEW, place=place).allowed

        own = self._own(place)
        return Seen(
            roles=tuple(grant.label for grant in granted(own, self._roles)),
            ui=tuple(one.item for one in feature.ui if visible(Context.UI, one.item)),
            operations=tuple(
                one.item for one in feature.resources if visible(Context.RESOURCE, one.item)
            ),
        )

    def _grants(self, place: Place) -> tuple[Grant, ...]:
        """Return the grants that count at a place: its own, its mandate's, and global ones."""
        places = {place, Place(place.mandate, NO_INSTANCE), Place(SYSTEM, NO_INSTANCE)}
        held = [role for role in self._held if Place(role.at.mandate, role.at.instance) in places]
        return tuple(granted(held, self._roles))

    def _own(self, place: Place) -> list[Held]:
        return [role for role in self._held if Place(role.at.mandate, role.at.instance) == place]


def _place(one: UserMandate | FeatureAccess) -> Place:
    instance = one.instance if isinstance(one, FeatureAccess) else NO_INSTANCE
    return Place(one.mandate, instance)


def _held(one: UserMandate | FeatureAccess) -> list[Held]:
    if isinstance(one, FeatureAccess):
        return at_instance(one.mandate, one.instance, one.roles)
    return at_mandate(one.mandate, one.roles)
