"""A mail as it is handed over: a plain object, its attachments kept as files of the instance."""

from __future__ import annotations

import hashlib
from contextlib import suppress
from datetime import datetime

from stellwerk.files.model import File, FileId
from stellwerk.files.ports import Files
from stellwerk.files.service import LARGEST, checked_name, checked_type
from stellwerk.kernel.clock import Clock, instant
from stellwerk.kernel.errors import BadInput, Conflict
from stellwerk.kernel.ids import UserId
from stellwerk.kernel.json import JsonObject
from stellwerk.tenancy.scope import Scope
from stellwerk.toolboxes.mail import Attachment, Mail

MOST = 20
"""Attachments of a mail that are kept."""
_ALPHABET = "0123456789abcdefghjkmnpqrstvwxyz"


class Handing:
    """Makes payloads. The same mail makes the same files, however often it is read."""

    def __init__(self, files: Files, clock: Clock) -> None:
        self._files = files
        self._clock = clock

    def payload(self, scope: Scope, mail: Mail, *, owner: UserId, place: str) -> JsonObject:
        """Return a mail for `place`, such as a trigger; its files are `owner`'s."""
        attachments = [
            self._kept(scope, one, mail, owner, f"{place}\n{mail.id}\n{number}")
            for number, one in enumerate(mail.files()[:MOST])
        ]
        return {
            "id": mail.id,
            "received": instant(mail.received),
            "sender": mail.sender,
            "sender_name": mail.sender_name,
            "to": [*mail.to],
            "cc": [*mail.cc],
            "subject": mail.subject,
            "text": mail.text,
            "html": mail.html,
            "attachments": [*attachments],
        }

    def _kept(
        self, scope: Scope, one: Attachment, mail: Mail, owner: UserId, place: str
    ) -> JsonObject:
        """Keep an attachment; one that cannot be kept is named all the same, with the reason."""
        told: JsonObject = {"name": one.name, "type": one.type, "size": one.size}
        content = one.content() if one.size <= LARGEST else b""
        if one.size > LARGEST or len(content) > LARGEST:
            return told | {"file": None, "problem": f"It has more than {LARGEST} bytes."}
        try:
            name, type_ = checked_name(one.name), checked_type(one.type)
        except BadInput:
            name, type_ = "attachment", ""
        file = File(
            id=_id(mail.received, place),
            name=name,
            type=type_ or checked_type(""),
            size=len(content),
            sha256=hashlib.sha256(content).hexdigest(),
            created_by=owner,
            created=self._clock.now(),
        )
        with suppress(Conflict):  # the mail was read before, or is by another at this moment
            self._files.add(scope, file, content)
        return told | {"file": file.id, "problem": ""}


def _id(received: datetime, place: str) -> FileId:
    """Return an id like all others, which sorts by time; made of where the file comes from."""
    digest = int.from_bytes(hashlib.sha256(place.encode()).digest()[:10])
    number = (int(received.timestamp() * 1000) << 80) | digest
    return FileId("".join(_ALPHABET[(number >> shift) & 31] for shift in range(125, -1, -5)))
