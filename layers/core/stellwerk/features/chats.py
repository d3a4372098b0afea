"""What the features around conversations share: who may talk, and who may read what."""

from __future__ import annotations

from collections.abc import Iterable

from stellwerk.features.declaring import administrator, allows, role, shows, table
from stellwerk.tenancy.access import Level
from stellwerk.tenancy.features import TemplateRole, UiObject


def chat_roles(
    code: str,
    ui: Iterable[UiObject],
    *,
    private: Iterable[str],
    shared: Iterable[str],
    user: Iterable[str],
    viewer: Iterable[str],
) -> tuple[TemplateRole, ...]:
    """Return admin, user and viewer; rows of `private` tables are seen by their creators alone."""
    everyone, mine = Level.INSTANCE, Level.MY
    return (
        administrator(code, ui),
        role(
            f"{code}-user",
            "Talks, and adds what is shared.",
            shows(code, *user),
            allows(code, "chat"),
            table(code, *private, read=mine, create=everyone, change=mine),
            table(code, *shared, read=everyone, create=everyone, change=mine),
            table(code, "members", read=everyone),
        ),
        role(
            f"{code}-viewer",
            "Sees what is shared.",
            shows(code, *viewer),
            table(code, *private, read=mine),
            table(code, *shared, read=everyone),
        ),
    )
