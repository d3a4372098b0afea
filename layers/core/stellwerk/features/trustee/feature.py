"""Declares the trustee."""

from __future__ import annotations

from stellwerk.features.declaring import (
    STAFF,
    administrator,
    allows,
    operations,
    pages,
    role,
    shows,
    table,
)
from stellwerk.tenancy.access import Level
from stellwerk.tenancy.features import Chat, Feature
from stellwerk.tenancy.model import Text

_CODE = "trustee"
_UI = pages(
    _CODE,
    documents=("Belege", "Documents"),
    positions=("Positionen", "Positions"),
    accounts=("Konten", "Accounts"),
    synchronise=("Mit der Buchhaltung abgleichen", "Synchronise with the accounting"),
    settings=("Einstellungen", "Settings"),
    members=("Zugänge und Rollen", "Access and roles"),
)

FEATURE = Feature(
    code=_CODE,
    label=Text(de="Treuhand", en="Trustee"),
    icon="calculator",
    tables=("documents", "positions", "accounts", *STAFF),
    ui=_UI,
    resources=operations(
        _CODE,
        extract=("Belege auslesen", "Extract documents"),
        book=("Positionen buchen", "Book positions"),
        synchronise=("Mit der Buchhaltung abgleichen", "Synchronise with the accounting"),
    ),
    roles=(
        administrator(_CODE, _UI),
        role(
            "trustee-user",
            "Records documents and books positions; changes own ones.",
            shows(_CODE, "documents", "positions", "accounts"),
            allows(_CODE, "extract", "book"),
            table(
                _CODE,
                "documents",
                "positions",
                read=Level.INSTANCE,
                create=Level.INSTANCE,
                change=Level.MY,
            ),
            table(_CODE, "accounts", "members", read=Level.INSTANCE),
        ),
        role(
            "trustee-viewer",
            "Sees documents, positions and accounts.",
            shows(_CODE, "documents", "positions", "accounts"),
            table(_CODE, "documents", "positions", "accounts", read=Level.INSTANCE),
        ),
    ),
    chat=Chat(toolboxes=("core", "trustee"), requestable=("ai",)),
)
