"""Declares the communication coach."""

from __future__ import annotations

from stellwerk.features.chats import chat_roles
from stellwerk.features.declaring import STAFF, operations, pages
from stellwerk.tenancy.features import Chat, Feature
from stellwerk.tenancy.model import Text

_CODE = "commCoach"
_UI = pages(
    _CODE,
    practice=("Üben", "Practise"),
    scenarios=("Szenarien", "Scenarios"),
    progress=("Fortschritt", "Progress"),
    settings=("Einstellungen", "Settings"),
    members=("Zugänge und Rollen", "Access and roles"),
)

FEATURE = Feature(
    code=_CODE,
    label=Text(de="Kommunikationscoach", en="Communication coach"),
    icon="school",
    tables=("sessions", "scenarios", *STAFF),
    ui=_UI,
    resources=operations(
        _CODE,
        chat=("Gespräche üben", "Practise conversations"),
        configure=("Coach einrichten", "Configure the coach"),
    ),
    roles=chat_roles(
        _CODE,
        _UI,
        private=["sessions"],
        shared=["scenarios"],
        user=["practice", "scenarios", "progress"],
        viewer=["scenarios"],
    ),
    chat=Chat(toolboxes=("core",)),
)
