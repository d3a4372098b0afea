"""Feature instances of a mandate."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from stellwerk.kernel.clock import Clock
from stellwerk.kernel.errors import BadInput, Forbidden, NotFound
from stellwerk.kernel.ids import InstanceId, RoleId, new_id
from stellwerk.tenancy.access import AccessRule, Context, Level, Verb
from stellwerk.tenancy.auditing import Audit
from stellwerk.tenancy.features import Feature, Features, TemplateRole
from stellwerk.tenancy.founding import found_instance
from stellwerk.tenancy.model import FeatureAccess, FeatureInstance, Role
from stellwerk.tenancy.ports import Directory
from stellwerk.tenancy.refusals import noted
from stellwerk.tenancy.scope import Scope, at_mandate, of_platform, require
from stellwerk.tenancy.wording import named

TABLE = "instances"


@dataclass(frozen=True)
class Added:
    """A rule that a role has gained."""

    role: Role
    rule: AccessRule


class InstanceService:
    """Creates, lists and changes instances. Decided with roles of the mandate and global ones."""

    def __init__(
        self, directory: Directory, features: Features, *, audit: Audit, clock: Clock
    ) -> None:
        self._directory = directory
        self._features = features
        self._audit = audit
        self._clock = clock

    def create(self, scope: Scope, feature: str, label: str) -> FeatureInstance:
        """Create an instance with copies of the feature's roles, administrated by who creates it.

        Raises Forbidden; BadInput for an unknown feature.
        """
        scope = at_mandate(scope)
        with self._audit.act(scope, "instance.create") as act:
            require(scope, TABLE, Verb.CREATE)
            declared, now = self._instantiable(feature), self._clock.now()
            instance = FeatureInstance(
                id=InstanceId(f"i-{new_id(now)}"),
                mandate=scope.mandate,
                feature=feature,
                label=named(label, "label"),
                created_by=scope.user,
                created=now,
            )
            act.object(f"instance:{instance.id}")
            stored = found_instance(
                self._directory, declared, instance, new_id=lambda _: RoleId(f"r-{new_id(now)}")
            )
            act.after(stored)
            return stored

    def list(self, scope: Scope) -> Sequence[FeatureInstance]:
        """Return the mandate's instances, by id: all, or those into which the user may come."""
        scope = at_mandate(scope)
        with noted(self._audit, scope, "instance.list"):
            level = require(scope, TABLE, Verb.READ)
        found = self._directory.mandates.instances(scope)
        if level is Level.ALL:
            return found
        own = self._own(scope)
        return [one for one in found if one.id in own and one.active]

    def get(self, scope: Scope, instance: InstanceId) -> FeatureInstance:
        """Return an instance; raises NotFound for one into which the user may not come."""
        scope = at_mandate(scope)
        with noted(self._audit, scope, "instance.read", f"instance:{instance}"):
            level = require(scope, TABLE, Verb.READ)
            found = self._directory.mandates.instance(scope, instance)
            if level is not Level.ALL and not (found.active and self._may_enter(scope, instance)):
                refusal = Forbidden(f"'{scope.user}' may not come into instance {instance}.")
                raise NotFound(f"there is no instance {instance}") from refusal
        return found

    def update(
        self,
        scope: Scope,
        instance: InstanceId,
        revision: int,
        *,
        label: str | None = None,
        active: bool | None = None,
    ) -> FeatureInstance:
        """Rename an instance, let it rest or wake it.

        Raises Forbidden, NotFound, BadInput; Conflict where `revision` is not what is stored.
        """
        scope = at_mandate(scope)
        with self._audit.act(scope, "instance.update", f"instance:{instance}") as act:
            require(scope, TABLE, Verb.UPDATE)
            stored = self._directory.mandates.instance(scope, instance)
            act.before(stored)
            changed = stored.model_copy(
                update={
                    "revision": revision,
                    "label": stored.label if label is None else named(label, "label"),
                    "active": stored.active if active is None else active,
                }
            )
            written = self._directory.mandates.write_instance(scope, changed)
            act.after(written)
            return written

    def sync_ui_objects(self, scope: Scope, instance: InstanceId) -> Sequence[Added]:
        """Give the instance's roles what their templates say about pages that they do not know.

        Roles are matched by label; a page about which a role says anything, be it by a prefix,
        stays as it is. Repeating it adds nothing. Returns what was added.
        """
        scope = at_mandate(scope)
        with self._audit.act(scope, "instance.sync_ui_objects", f"instance:{instance}"):
            require(scope, TABLE, Verb.UPDATE)
            stored = self._directory.mandates.instance(scope, instance)
            feature = self._features.all().get(stored.feature)
            inside = of_platform(scope.mandate).at(instance)
            templates = {role.label: role for role in feature.roles} if feature else {}
            added: list[Added] = []
            for role in self._directory.roles.roles(inside):
                if role.label in templates:
                    added += self._synced(inside, role, templates[role.label])
            return added

    def _synced(self, inside: Scope, role: Role, template: TemplateRole) -> Iterator[Added]:
        new = tuple(_unknown_pages(role, template))
        if new:
            changed = role.model_copy(update={"rules": (*role.rules, *new)})
            written = self._directory.roles.write_role(inside, changed)
            yield from (Added(written, rule) for rule in new)

    def _instantiable(self, code: str) -> Feature:
        known = {code: one for code, one in self._features.all().items() if one.instantiable}
        if code not in known:
            raise BadInput(
                f"there is no feature '{code}' of which there are instances",
                remedy=f"Choose one of {', '.join(sorted(known))}.",
            )
        return known[code]

    def _may_enter(self, scope: Scope, instance: InstanceId) -> bool:
        standing = self._directory.members.standing(scope.at(instance), scope.user)
        return standing.access is not None

    def _own(self, scope: Scope) -> set[InstanceId]:
        places = self._directory.members.places(scope.user)
        return {
            one.instance
            for one in places
            if isinstance(one, FeatureAccess) and one.mandate == scope.mandate
        }


def _unknown_pages(role: Role, template: TemplateRole) -> Iterator[AccessRule]:
    """Yield the template's rules about pages on which the role says nothing."""
    own = [rule for rule in role.rules if rule.context is Context.UI]
    for rule in template.rules:
        if rule.context is Context.UI and all(one.specificity(rule.item) is None for one in own):
            yield rule
