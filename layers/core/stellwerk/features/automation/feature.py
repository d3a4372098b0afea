"""Declares the automation."""

from __future__ import annotations

from stellwerk.features.declaring import pages
from stellwerk.features.flows import SERVICES, TABLES, flow_operations, flow_roles
from stellwerk.tenancy.features import Chat, Feature
from stellwerk.tenancy.model import Text

_CODE = "automation"
_UI = pages(
    _CODE,
    workflows=("Workflows", "Workflows"),
    schedules=("Zeitpläne", "Schedules"),
    runs=("Läufe", "Runs"),
    monitoring=("Überwachung", "Monitoring"),
    inbox=("Aufgaben", "Inbox"),
    files=("Dateien", "Files"),
    start=("Jetzt starten", "Start now"),
    settings=("Einstellungen", "Settings"),
    members=("Zugänge und Rollen", "Access and roles"),
)

FEATURE = Feature(
    code=_CODE,
    label=Text(de="Automation", en="Automation"),
    icon="clock-play",
    tables=TABLES,
    ui=_UI,
    resources=flow_operations(_CODE),
    roles=flow_roles(
        _CODE,
        _UI,
        user=["workflows", "schedules", "runs", "monitoring", "inbox", "files", "start"],
        viewer=["workflows", "schedules", "runs", "monitoring", "inbox"],
    ),
    services=SERVICES,
    chat=Chat(toolboxes=("core",)),
)
