"""Declares the graphical editor."""

from __future__ import annotations

from stellwerk.features.declaring import pages
from stellwerk.features.flows import SERVICES, TABLES, flow_operations, flow_roles
from stellwerk.tenancy.features import Chat, Feature
from stellwerk.tenancy.model import Text

_CODE = "graphicalEditor"
_UI = pages(
    _CODE,
    workflows=("Workflows", "Workflows"),
    editor=("Editor", "Editor"),
    create=("Neuer Workflow", "New workflow"),
    publish=("Veröffentlichen", "Publish"),
    test=("Testen", "Test"),
    versions=("Versionen", "Versions"),
    runs=("Läufe", "Runs"),
    inbox=("Aufgaben", "Inbox"),
    files=("Dateien", "Files"),
    chat=("Assistent", "Assistant"),
    share=("Teilen", "Share"),
    settings=("Einstellungen", "Settings"),
    members=("Zugänge und Rollen", "Access and roles"),
)

FEATURE = Feature(
    code=_CODE,
    label=Text(de="Grafischer Editor", en="Graphical editor"),
    icon="sitemap",
    tables=TABLES,
    ui=_UI,
    resources=flow_operations(_CODE),
    roles=flow_roles(
        _CODE,
        _UI,
        user=[
            "workflows",
            "editor",
            "create",
            "publish",
            "test",
            "versions",
            "runs",
            "inbox",
            "files",
            "chat",
        ],
        viewer=["workflows", "editor", "versions", "runs", "inbox", "files"],
    ),
    services=SERVICES,
    chat=Chat(toolboxes=("core", "workflow"), requestable=("ai",)),
)
