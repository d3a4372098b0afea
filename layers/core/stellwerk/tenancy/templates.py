"""Role templates, and the copies that begin a mandate or an instance.

Two sets that are never mixed: those of the system for mandates, and each feature's for its
instances. A copy is independent of its template from the moment on at which it is made.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

from stellwerk.kernel.ids import InstanceId, MandateId, RoleId
from stellwerk.tenancy.access import AccessRule, Context, Level
from stellwerk.tenancy.features import Feature
from stellwerk.tenancy.model import Role
from stellwerk.tenancy.scope import ADMINISTRATION

NewId = Callable[[Role], RoleId]
"""Returns the id of the copy of a template."""

ADMIN, USER, VIEWER = "admin", "user", "viewer"
SYSTEM_ADMIN = RoleId("system-admin")
"""The global role that may create mandates. It opens none of them."""
_MANDATES_PAGE = f"ui.feature.{ADMINISTRATION}.mandates"
"""Shows all mandates: for those who administrate the installation, not for those of a mandate."""


def system_templates() -> Sequence[Role]:
    """Return the templates of the roles of mandates: admin, user, viewer."""
    return [
        _system(ADMIN, "Administrates the mandate and may do everything in it.", _everything()),
        _system(USER, "Belongs to the mandate and sees who else does.", _belonging("members")),
        _system(VIEWER, "Belongs to the mandate.", _belonging()),
    ]


def feature_templates(feature: Feature) -> Sequence[Role]:
    """Return the templates of the roles of a feature's instances."""
    return [
        Role(
            id=RoleId(f"template-{role.label}"),
            label=role.label,
            description=role.description,
            feature=feature.code,
            rules=role.rules,
        )
        for role in feature.roles
    ]


def admin_label(feature: Feature) -> str:
    """Return the label of the role that administrates an instance of the feature."""
    return f"{feature.code}-{ADMIN}"


def system_admin() -> Role:
    """Return the global role of those who administrate the installation."""
    return Role(
        id=SYSTEM_ADMIN,
        label=str(SYSTEM_ADMIN),
        description="Creates mandates, renames them and lets them rest; sees nothing inside.",
        is_system_role=True,
        rules=(
            AccessRule(context=Context.UI, item=_MANDATES_PAGE, view=True),
            AccessRule(
                context=Context.DATA,
                item=f"data.feature.{ADMINISTRATION}.mandates",
                view=True,
                read=Level.ALL,
                create=Level.ALL,
                update=Level.ALL,
            ),
        ),
    )


def copies(
    templates: Sequence[Role],
    mandate: MandateId,
    instance: InstanceId | None = None,
    *,
    new_id: NewId,
) -> Iterator[Role]:
    """Yield a new role of the place for each template, with its rules."""
    for template in templates:
        yield Role(
            id=new_id(template),
            label=template.label,
            description=template.description,
            mandate=mandate,
            instance=instance,
            feature=template.feature,
            template=template.id,
            rules=template.rules,
        )


def _system(label: str, description: str, rules: tuple[AccessRule, ...]) -> Role:
    return Role(
        id=RoleId(f"template-{label}"),
        label=label,
        description=description,
        is_system_role=True,
        rules=rules,
    )


def _everything() -> tuple[AccessRule, ...]:
    return (
        AccessRule(context=Context.UI, view=True),
        AccessRule(context=Context.UI, item=_MANDATES_PAGE, view=False),
        AccessRule(context=Context.RESOURCE, view=True),
        AccessRule(
            context=Context.DATA,
            view=True,
            read=Level.ALL,
            create=Level.ALL,
            update=Level.ALL,
            delete=Level.ALL,
        ),
    )


def _belonging(*more: str) -> tuple[AccessRule, ...]:
    """Return what lets see the mandate, one's own instances (`instance`), and all of `more`."""
    levels = {"mandates": Level.ALL, "instances": Level.INSTANCE} | dict.fromkeys(more, Level.ALL)
    home = AccessRule(context=Context.UI, item=f"ui.feature.{ADMINISTRATION}.overview", view=True)
    return home, *(
        AccessRule(
            context=Context.DATA,
            item=f"data.feature.{ADMINISTRATION}.{table}",
            view=True,
            read=level,
        )
        for table, level in levels.items()
    )
