"""Mailboxes of Microsoft 365, by the delta query of Microsoft Graph.

https://learn.microsoft.com/graph/delta-query-messages
"""

from __future__ import annotations

import base64
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import partial
from typing import Protocol
from urllib.parse import quote, urlencode

from stellwerk.kernel.errors import (
    ConnectionRejected,
    Forbidden,
    NotFound,
    PermanentError,
    RateLimited,
    ServiceUnavailable,
)
from stellwerk.kernel.json import JsonObject, JsonValue
from stellwerk.toolboxes.mail import LONGEST_TEXT, PAGE, Attachment, Batch, Mail
from stellwerk.toolboxes.ports import Answer, Web
from stellwerk.toolboxes.web import object_in, retry_after

_FIELDS = (
    "id,internetMessageId,receivedDateTime,from,toRecipients,ccRecipients,subject,body,"
    "hasAttachments,isDraft"
)
_FILE = "#microsoft.graph.fileAttachment"
_KNOWN = {"inbox": "inbox", "sent": "sentitems", "drafts": "drafts", "archive": "archive"}
"""Folders that Graph knows by a name in every language."""


class Token(Protocol):
    """Returns an access token, another one than the one that was refused."""

    def __call__(self, refused: str = "") -> str:
        """Return it; raises ConnectionRejected."""


@dataclass(frozen=True)
class GraphMailbox:
    """Implements `mail.Mailbox`. The mark is the link under which Graph tells what is new."""

    base: str
    """Such as `https://graph.microsoft.com/v1.0`."""
    web: Web
    token: Token

    def check(self) -> str:
        """Ask whose account it is."""
        me = self._get(f"{self.base}/me?$select=userPrincipalName")
        return f"Microsoft lets {_text(me.get('userPrincipalName')) or 'the account'} in."

    def read(self, folder: str, mark: str, since: datetime) -> Batch:
        """Return the next page of what is new; drafts and what was removed are no mails."""
        link = mark if mark.startswith(f"{self.base}/") else self._first(folder, since)
        answer = self._answer(link)
        if answer.status == 410:
            return self.read(folder, "", since) if mark else self._gone()
        page = self._checked(answer)
        following = _text(page.get("@odata.nextLink"))
        onward = following or _text(page.get("@odata.deltaLink"))
        if not onward.startswith(f"{self.base}/"):
            raise ServiceUnavailable("Microsoft Graph does not say where its page goes on.")
        mails = sorted(self._mails(page), key=lambda mail: mail.received)
        return Batch(mails, onward, more=bool(following))

    def _first(self, folder: str, since: datetime) -> str:
        begun = since.astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
        asked = {"$select": _FIELDS, "$filter": f"receivedDateTime ge {begun}"}
        return f"{self.base}/me/mailFolders/{self._folder(folder)}/messages/delta?" + urlencode(
            asked, quote_via=quote, safe="$,:"
        )

    def _folder(self, name: str) -> str:
        """Return a folder's well-known name, or its id by the name that people see."""
        known = _KNOWN.get(name.casefold())
        if known:
            return known
        asked = urlencode(
            {"$filter": f"displayName eq '{name.replace(chr(39), chr(39) * 2)}'", "$select": "id"},
            quote_via=quote,
            safe="$",
        )
        for found in _objects(self._get(f"{self.base}/me/mailFolders?{asked}").get("value")):
            return quote(_text(found.get("id")), safe="")
        raise NotFound(
            f"The mailbox has no folder '{name}'.", remedy="Name one that is there, or INBOX."
        )

    def _mails(self, page: JsonObject) -> Iterator[Mail]:
        for message in _objects(page.get("value")):
            received = _text(message.get("receivedDateTime"))
            if "@removed" not in message and not message.get("isDraft") and received:
                yield self._mail(message, received)

    def _mail(self, message: JsonObject, received: str) -> Mail:
        body = _object(message.get("body"))
        content = _text(body.get("content"))[:LONGEST_TEXT]
        html = body.get("contentType") == "html"
        sender = _object(_object(message.get("from")).get("emailAddress"))
        own = _text(message.get("id"))
        has_files = bool(message.get("hasAttachments"))
        return Mail(
            id=_text(message.get("internetMessageId")) or own,
            received=datetime.fromisoformat(received.replace("Z", "+00:00")),
            sender=_text(sender.get("address")),
            sender_name=_text(sender.get("name")),
            to=_addresses(message.get("toRecipients")),
            cc=_addresses(message.get("ccRecipients")),
            subject=_text(message.get("subject")),
            text="" if html else content,
            html=content if html else "",
            files=lambda: list(self._files(own)) if has_files else [],
        )

    def _files(self, message: str) -> Iterator[Attachment]:
        place = f"{self.base}/me/messages/{quote(message, safe='')}/attachments"
        for found in _objects(self._get(f"{place}?$select=id,name,contentType,size").get("value")):
            if found.get("@odata.type", _FILE) == _FILE:
                size = found.get("size")
                one = f"{place}/{quote(_text(found.get('id')), safe='')}"
                yield Attachment(
                    _text(found.get("name")) or "attachment",
                    _text(found.get("contentType")),
                    size if isinstance(size, int) else 0,
                    partial(self._content, one),
                )

    def _content(self, place: str) -> bytes:
        return base64.b64decode(_text(self._get(place).get("contentBytes")))

    def _get(self, url: str) -> JsonObject:
        return self._checked(self._answer(url))

    def _answer(self, url: str) -> Answer:
        """Return Graph's answer; a token that it refuses is renewed once."""
        token = self.token()
        answer = self._asked(url, token)
        return self._asked(url, self.token(token)) if answer.status == 401 else answer

    def _asked(self, url: str, token: str) -> Answer:
        headers = {
            "authorization": f"Bearer {token}",
            "accept": "application/json",
            "prefer": f'odata.maxpagesize={PAGE}, outlook.body-content-type="text"',
        }
        return self.web.send("GET", url, headers)

    def _checked(self, answer: Answer) -> JsonObject:
        if answer.status == 200:
            return object_in(answer)
        error = _object(object_in(answer).get("error"))
        said = f"Microsoft Graph answered {answer.status} {_text(error.get('code'))[:80]}.".strip()
        if answer.status == 429:
            raise RateLimited(said, retry_after=retry_after(answer))
        if answer.status >= 500:
            raise ServiceUnavailable(said, retry_after=retry_after(answer))
        if answer.status == 401:
            raise ConnectionRejected(said, remedy="Its owner must authorise it again.")
        if answer.status == 403:
            raise Forbidden(said, remedy="The account lacks the consent, or the mailbox.")
        if answer.status == 404:
            raise NotFound(said, remedy="Look whether the folder is still there.")
        raise PermanentError(said)

    def _gone(self) -> Batch:
        raise ServiceUnavailable("Microsoft Graph begins no delta query now.")


def _addresses(found: JsonValue) -> tuple[str, ...]:
    return tuple(_text(_object(one.get("emailAddress")).get("address")) for one in _objects(found))


def _objects(found: JsonValue) -> Sequence[JsonObject]:
    return [one for one in found if isinstance(one, dict)] if isinstance(found, list) else []


def _object(found: JsonValue) -> JsonObject:
    return found if isinstance(found, dict) else {}


def _text(found: JsonValue) -> str:
    return found if isinstance(found, str) else ""
