"""Founding mandates and instances: all that is in them first, and the record itself at the end.

So nobody ever sees half of one: what was begun and not finished has ids that nothing knows.
"""

from __future__ import annotations

from stellwerk.kernel.ids import UserId
from stellwerk.tenancy.features import Feature
from stellwerk.tenancy.model import FeatureAccess, FeatureInstance, Mandate, Role, UserMandate
from stellwerk.tenancy.ports import Directory
from stellwerk.tenancy.scope import Scope, of_platform
from stellwerk.tenancy.templates import (
    ADMIN,
    NewId,
    admin_label,
    copies,
    feature_templates,
    system_templates,
)


def found_mandate(
    directory: Directory, mandate: Mandate, admin: UserId, *, new_id: NewId
) -> Mandate:
    """Write a mandate with its roles and first administrator. Raises NotFound for no user."""
    scope = of_platform(mandate.id)
    roles = list(copies(system_templates(), mandate.id, new_id=new_id))
    _write(directory, scope, roles)
    held = tuple(role.id for role in roles if role.label == ADMIN)
    member = UserMandate(mandate=mandate.id, user=admin, roles=held)
    directory.members.write_membership(scope, member)
    return directory.mandates.write_mandate(scope, mandate)


def found_instance(
    directory: Directory, feature: Feature, instance: FeatureInstance, *, new_id: NewId
) -> FeatureInstance:
    """Write an instance with its roles; its creator administrates it."""
    scope = of_platform(instance.mandate).at(instance.id)
    templates = feature_templates(feature)
    roles = list(copies(templates, instance.mandate, instance.id, new_id=new_id))
    _write(directory, scope, roles)
    held = tuple(role.id for role in roles if role.label == admin_label(feature))
    access = FeatureAccess(
        mandate=instance.mandate, instance=instance.id, user=instance.created_by, roles=held
    )
    directory.members.write_access(scope, access)
    return directory.mandates.write_instance(of_platform(instance.mandate), instance)


def _write(directory: Directory, scope: Scope, roles: list[Role]) -> None:
    for role in roles:
        directory.roles.write_role(scope, role)
