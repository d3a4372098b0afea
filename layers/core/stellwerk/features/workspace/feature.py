"""Declares the workspace."""

from __future__ import annotations

from stellwerk.features.chats import chat_roles
from stellwerk.features.declaring import STAFF, operations, pages
from stellwerk.tenancy.features import Chat, Feature
from stellwerk.tenancy.model import Text

_CODE = "workspace"
_UI = pages(
    _CODE,
    chat=("Chat", "Chat"),
    agents=("Agenten", "Agents"),
    files=("Dateien", "Files"),
    sources=("Quellen", "Sources"),
    settings=("Einstellungen", "Settings"),
    members=("Zugänge und Rollen", "Access and roles"),
)

FEATURE = Feature(
    code=_CODE,
    label=Text(de="Arbeitsbereich", en="Workspace"),
    icon="message-2-cog",
    tables=("conversations", "sources", "files", *STAFF),
    ui=_UI,
    resources=operations(
        _CODE,
        chat=("Mit dem Assistenten arbeiten", "Work with the assistant"),
        configure=("Assistenten einrichten", "Configure the assistant"),
    ),
    roles=chat_roles(
        _CODE,
        _UI,
        private=["conversations"],
        shared=["sources", "files"],
        user=["chat", "agents", "files", "sources"],
        viewer=["files", "sources"],
    ),
    chat=Chat(
        toolboxes=("core",),
        requestable=("ai", "datasources", "email", "sharepoint", "clickup", "jira", "workflow"),
    ),
)
