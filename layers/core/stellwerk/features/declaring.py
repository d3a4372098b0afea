"""Words to declare features in: pages, operations, and the rules of template roles."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from stellwerk.tenancy.access import AccessRule, Context, Level
from stellwerk.tenancy.features import ResourceObject, TemplateRole, UiObject
from stellwerk.tenancy.model import Text

STAFF = ("members", "roles")
"""Tables that every instance has: who may come in, and its roles."""


def pages(code: str, **labels: tuple[str, str]) -> tuple[UiObject, ...]:
    """Return pages and buttons by name, with their labels in German and English."""
    return tuple(
        UiObject(item=f"ui.feature.{code}.{name}", label=Text(de=de, en=en))
        for name, (de, en) in labels.items()
    )


def operations(code: str, **labels: tuple[str, str]) -> tuple[ResourceObject, ...]:
    """Return operations by name, with their labels in German and English."""
    return tuple(
        ResourceObject(item=f"resource.feature.{code}.{name}", label=Text(de=de, en=en))
        for name, (de, en) in labels.items()
    )


def role(label: str, description: str, *rules: Iterable[AccessRule]) -> TemplateRole:
    """Return a template role with all these rules."""
    return TemplateRole(
        label=label, description=description, rules=tuple(rule for some in rules for rule in some)
    )


def shows(code: str, *names: str) -> Iterator[AccessRule]:
    """Yield rules that show these pages and buttons."""
    for name in names:
        yield AccessRule(context=Context.UI, item=f"ui.feature.{code}.{name}", view=True)


def allows(code: str, *names: str) -> Iterator[AccessRule]:
    """Yield rules that allow these operations."""
    for name in names:
        yield AccessRule(
            context=Context.RESOURCE, item=f"resource.feature.{code}.{name}", view=True
        )


def table(
    code: str,
    *names: str,
    read: Level = Level.NONE,
    create: Level = Level.NONE,
    change: Level = Level.NONE,
) -> Iterator[AccessRule]:
    """Yield rules about these tables; who may `change` a row may delete it too."""
    for name in names:
        yield AccessRule(
            context=Context.DATA,
            item=f"data.feature.{code}.{name}",
            view=read is not Level.NONE,
            read=read,
            create=create,
            update=change,
            delete=change,
        )


def administrator(code: str, ui: Iterable[UiObject]) -> TemplateRole:
    """Return the role that may do everything in an instance.

    It names each page, so that one that is new is missing from copies until they are synchronised.
    """
    level = Level.INSTANCE
    data = AccessRule(
        context=Context.DATA,
        item=f"data.feature.{code}.*",
        view=True,
        read=level,
        create=level,
        update=level,
        delete=level,
    )
    operations = AccessRule(context=Context.RESOURCE, item=f"resource.feature.{code}.*", view=True)
    shown = (AccessRule(context=Context.UI, item=one.item, view=True) for one in ui)
    return role(f"{code}-admin", "May do everything in this instance.", (data, operations), shown)
