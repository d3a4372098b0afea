"""What the features around workflows share: tables, operations, and who may do what with them."""

from __future__ import annotations

from collections.abc import Iterable

from stellwerk.catalogue.store import StoredCatalogue
from stellwerk.features.declaring import (
    STAFF,
    administrator,
    allows,
    operations,
    role,
    shows,
    table,
)
from stellwerk.tenancy.access import Level
from stellwerk.tenancy.features import ResourceObject, TemplateRole, UiObject
from stellwerk.workflows.palette import USE, group_of

TABLES = ("workflows", "versions", "runs", "tasks", "files", "connections", *STAFF)
SERVICES = ("workflows", "runs", "tasks")


def flow_operations(code: str) -> tuple[ResourceObject, ...]:
    """Return what can be done with workflows, beside changing them."""
    groups = sorted({group_of(declared) for declared in StoredCatalogue().types()})
    usable = {f"{USE}.{group}": (f"Bausteine: {group}", f"Nodes: {group}") for group in groups}
    return operations(
        code,
        publish=("Veröffentlichen", "Publish"),
        execute=("Ausführen", "Run"),
        decide=("Aufgaben entscheiden", "Decide tasks"),
        share=("Im Mandanten teilen", "Share within the mandate"),
        **{
            "connections.own": ("Eigene Verbindungen verwenden", "Use own connections"),
            "connections.instance": (
                "Verbindungen der Instanz verwenden",
                "Use connections of the instance",
            ),
        },
        **{"import": ("Importieren", "Import"), "export": ("Exportieren", "Export")},
        **usable,
    )


def flow_roles(
    code: str, ui: Iterable[UiObject], *, user: Iterable[str], viewer: Iterable[str]
) -> tuple[TemplateRole, ...]:
    """Return admin, user and viewer, who see all pages, and those named."""
    everyone, mine, own = Level.INSTANCE, Level.MY, "Builds and runs workflows; changes own ones."
    return (
        administrator(code, ui),
        role(
            f"{code}-user",
            own,
            shows(code, *user),
            allows(
                code,
                *("publish", "execute", "decide", "import", "export"),
                *("connections.own", "connections.instance", f"{USE}.*"),
            ),
            table(
                code, "workflows", "versions", "files", read=everyone, create=everyone, change=mine
            ),
            table(code, "runs", read=everyone, create=everyone, change=mine),
            table(code, "tasks", read=mine, change=mine),
            table(code, "connections", read=mine, create=mine, change=mine),
            table(code, "members", read=everyone),
        ),
        role(
            f"{code}-viewer",
            "Sees workflows and what they did.",
            shows(code, *viewer),
            table(code, "workflows", "versions", "runs", "files", read=everyone),
            table(code, "tasks", read=mine),
        ),
    )
