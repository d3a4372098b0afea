"""Roles of a mandate or an instance, and their rules."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from stellwerk.kernel.clock import Clock
from stellwerk.kernel.errors import BadInput, Conflict
from stellwerk.kernel.ids import RoleId, new_id
from stellwerk.tenancy.access import AccessRule, Context, Verb
from stellwerk.tenancy.administrators import Administrators
from stellwerk.tenancy.auditing import Audit
from stellwerk.tenancy.features import Feature, Features, rule_faults
from stellwerk.tenancy.model import Role
from stellwerk.tenancy.ports import Directory
from stellwerk.tenancy.reach import require_reach
from stellwerk.tenancy.refusals import noted
from stellwerk.tenancy.scope import NO_INSTANCE, Scope, require
from stellwerk.tenancy.wording import described, named

TABLE = "roles"
MOST_RULES = 200


class RoleService:
    """Lists and changes the roles of the scope's place: of an instance, or of the mandate."""

    def __init__(
        self, directory: Directory, features: Features, *, audit: Audit, clock: Clock
    ) -> None:
        self._roles = directory.roles
        self._administrators = Administrators(directory)
        self._features = features
        self._audit = audit
        self._clock = clock

    def list(self, scope: Scope) -> Sequence[Role]:
        """Return all roles of the place, by id."""
        with noted(self._audit, scope, "role.list"):
            require(scope, TABLE, Verb.READ)
        return self._roles.roles(scope)

    def get(self, scope: Scope, role: RoleId) -> Role:
        """Return a role of the place; raises NotFound."""
        with noted(self._audit, scope, "role.read", f"role:{role}"):
            require(scope, TABLE, Verb.READ)
        return self._roles.role(scope, role)

    def create(
        self, scope: Scope, label: str, *, description: str = "", rules: Iterable[AccessRule] = ()
    ) -> Role:
        """Create a role.

        Raises Forbidden, also for rules beyond what the user holds; BadInput with all faults of the
        rules; Conflict for a label that is taken.
        """
        with self._audit.act(scope, "role.create") as act:
            require(scope, TABLE, Verb.CREATE)
            role = Role(
                id=RoleId(f"r-{new_id(self._clock.now())}"),
                label=self._free(scope, label),
                description=described(description),
                mandate=scope.mandate,
                instance=None if scope.instance == NO_INSTANCE else scope.instance,
                feature=None if scope.instance == NO_INSTANCE else scope.feature,
                rules=self._checked(scope, tuple(rules)),
            )
            act.object(f"role:{role.id}")
            require_reach(scope, role.rules)
            written = self._roles.write_role(scope, role)
            act.after(written)
            return written

    def update(
        self,
        scope: Scope,
        role: RoleId,
        revision: int,
        *,
        label: str | None = None,
        description: str | None = None,
        rules: Iterable[AccessRule] | None = None,
    ) -> Role:
        """Change a role; what is None stays.

        Raises as `create`, NotFound, and Conflict where `revision` is not what is stored, or nobody
        would administrate the place any more.
        """
        with self._audit.act(scope, "role.update", f"role:{role}") as act:
            require(scope, TABLE, Verb.UPDATE)
            stored = self._roles.role(scope, role)
            act.before(stored)
            changed = stored.model_copy(update={"revision": revision})
            if label is not None and label.strip() != stored.label:
                changed = changed.model_copy(update={"label": self._free(scope, label)})
            if description is not None:
                changed = changed.model_copy(update={"description": described(description)})
            if rules is not None:
                checked = self._checked(scope, tuple(rules))
                require_reach(scope, (rule for rule in checked if rule not in stored.rules))
                changed = changed.model_copy(update={"rules": checked})
            turn = self._administrators.turn_with(scope, stored, changed)
            written = self._roles.write_role(scope, changed, turn=turn)
            act.after(written)
            return written

    def delete(self, scope: Scope, role: RoleId, revision: int) -> None:
        """Remove a role; who held it holds it no more.

        Raises Forbidden, NotFound; Conflict as `update`.
        """
        with self._audit.act(scope, "role.delete", f"role:{role}") as act:
            require(scope, TABLE, Verb.DELETE)
            stored = self._roles.role(scope, role)
            act.before(stored)
            turn = self._administrators.turn_with(scope, stored, None)
            named_revision = stored.model_copy(update={"revision": revision})
            self._roles.delete_role(scope, named_revision, turn=turn)
            act.after(None)

    def _free(self, scope: Scope, label: str) -> str:
        name = named(label, "label")
        if any(role.label == name for role in self._roles.roles(scope)):
            raise Conflict(f"there is a role '{name}' here already", remedy="Choose another label.")
        return name

    def _checked(self, scope: Scope, rules: tuple[AccessRule, ...]) -> tuple[AccessRule, ...]:
        faults = [*rule_faults(rules, self._about(scope)), *_doubled(rules)]
        if len(rules) > MOST_RULES:
            faults.append(f"{len(rules)} rules are too many: {MOST_RULES} at most")
        if faults:
            raise BadInput("; ".join(faults), remedy="Correct these rules, or leave them out.")
        return rules

    def _about(self, scope: Scope) -> Iterator[Feature]:
        """Yield the features about which a role of the place may speak."""
        for code, feature in self._features.all().items():
            if scope.instance == NO_INSTANCE or code == scope.feature:
                yield feature


def _doubled(rules: Iterable[AccessRule]) -> Iterator[str]:
    seen: set[tuple[Context, str]] = set()
    for number, rule in enumerate(rules, start=1):
        if (rule.context, rule.item) in seen:
            yield f"{rule.context} rule {number} is about '{rule.item}' as one before it"
        seen.add((rule.context, rule.item))
