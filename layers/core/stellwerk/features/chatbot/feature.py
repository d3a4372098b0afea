"""Declares the chatbot."""

from __future__ import annotations

from stellwerk.features.chats import chat_roles
from stellwerk.features.declaring import STAFF, operations, pages
from stellwerk.tenancy.features import Chat, Feature
from stellwerk.tenancy.model import Text

_CODE = "chatbot"
_UI = pages(
    _CODE,
    chat=("Chat", "Chat"),
    history=("Verlauf", "History"),
    knowledge=("Wissen", "Knowledge"),
    settings=("Einstellungen", "Settings"),
    members=("Zugänge und Rollen", "Access and roles"),
)

FEATURE = Feature(
    code=_CODE,
    label=Text(de="Chatbot", en="Chatbot"),
    icon="message-chatbot",
    tables=("conversations", "knowledge", *STAFF),
    ui=_UI,
    resources=operations(
        _CODE,
        chat=("Fragen stellen", "Ask questions"),
        configure=("Chatbot einrichten", "Configure the chatbot"),
    ),
    roles=chat_roles(
        _CODE,
        _UI,
        private=["conversations"],
        shared=["knowledge"],
        user=["chat", "history", "knowledge"],
        viewer=["knowledge"],
    ),
    chat=Chat(toolboxes=("core",)),
)
