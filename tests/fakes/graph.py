"""Microsoft in small: an authorisation server that holds clients to PKCE, and Graph's mail.

As documented: paging by `@odata.nextLink` and `@odata.deltaLink`, 401 for a token that is over, 429
with Retry-After, 410 where a delta's state is not known any more.
"""

from __future__ import annotations

import base64
import hashlib
import itertools
import json
import os
import re
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import datetime
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from urllib.parse import parse_qs, urlencode, urlsplit

from stellwerk.kernel.json import JsonObject
from tests.secrets.vault import seeded

CLIENT = "stellwerk-at-microsoft"
REDIRECT = "http://localhost:8401/connected"
_DELTA = re.compile(r"/v1.0/me/mailFolders/([^/]+)/messages/delta")
_FILES = re.compile(r"/v1.0/me/messages/([^/]+)/attachments(?:/(\d+))?")
_SIZE = re.compile(r"maxpagesize=(\d+)")


@dataclass(frozen=True)
class Letter:
    """A mail in the fake's mailbox."""

    received: datetime
    subject: str = "Invoice 4711"
    sender: str = "anna@example.com"
    text: str = "Please pay."
    message_id: str = ""
    folder: str = "inbox"
    draft: bool = False
    removed: bool = False
    files: tuple[tuple[str, bytes], ...] = ()


@dataclass
class Microsoft:
    """What it holds, what it was asked, and how it is to behave."""

    url: str = ""
    page: int = 2
    """Messages on a page at most."""
    lasts: int = 3600
    """Seconds that a token lasts, as it says."""
    letters: list[Letter] = field(default_factory=list)
    consents: dict[str, dict[str, str]] = field(default_factory=dict)
    """What was asked for, by the code that was given out for it."""
    access: set[str] = field(default_factory=set)
    refresh: set[str] = field(default_factory=set)
    refreshed: int = 0
    redeemed: int = 0
    busy: int = 0
    """How many of the next requests to Graph are asked for patience."""
    broken: int = 0
    """How many of the next requests to Graph or for tokens fail with 503."""
    forgets: bool = False
    """Whether Graph knows no delta's state the next time that one comes."""
    asked: list[str] = field(default_factory=list)
    slow: threading.Event | None = None
    """If there is one, renewals wait for it."""
    numbers: Iterator[int] = field(default_factory=itertools.count)
    lock: threading.Lock = field(default_factory=threading.Lock)

    @property
    def place(self) -> str:
        return self.url.removeprefix("http://")

    @property
    def environment(self) -> dict[str, str]:
        """The settings of a deployment that finds this in Microsoft's place."""
        return {
            "STELLWERK_MICROSOFT_LOGIN": self.url,
            "STELLWERK_MICROSOFT_GRAPH": f"{self.url}/v1.0",
            "STELLWERK_MICROSOFT_CLIENT": CLIENT,
            "STELLWERK_HTTP_ALLOW": self.place,
        }

    def revoke(self) -> None:
        """Let no token and no consent hold any more."""
        self.access.clear()
        self.refresh.clear()

    def issued(self) -> JsonObject:
        """Return new tokens."""
        number = next(self.numbers)
        access, refresh = seeded(f"access-{number}"), seeded(f"refresh-{number}")
        self.access.add(access)
        self.refresh.add(refresh)
        return {
            "token_type": "Bearer",
            "access_token": access,
            "refresh_token": refresh,
            "expires_in": self.lasts,
        }


@contextmanager
def microsoft() -> Iterator[Microsoft]:
    """Run it for the block. oauthlib refuses plain HTTP unless a variable allows it."""
    told = Microsoft()
    server = _Http(told)
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    before = os.environ.get("OAUTHLIB_INSECURE_TRANSPORT")
    os.environ["OAUTHLIB_INSECURE_TRANSPORT"] = "1"
    try:
        yield told
    finally:
        if before is None:
            del os.environ["OAUTHLIB_INSECURE_TRANSPORT"]
        server.shutdown()
        server.server_close()
        thread.join()


class _Http(ThreadingHTTPServer):
    daemon_threads = True

    def __init__(self, told: Microsoft) -> None:
        super().__init__(("127.0.0.1", 0), Handler)
        self.told = told
        told.url = f"http://127.0.0.1:{self.server_address[1]}"


class Handler(BaseHTTPRequestHandler):
    """Answers requests."""

    server: _Http

    def log_message(self, *_: object) -> None:
        """Say nothing."""

    def do_GET(self) -> None:
        told, parts = self.server.told, urlsplit(self.path)
        asked = {name: values[0] for name, values in parse_qs(parts.query).items()}
        with told.lock:
            told.asked.append(f"GET {parts.path}")
            if parts.path.endswith("/oauth2/v2.0/authorize"):
                self._consent(told, asked)
            elif parts.path.startswith("/v1.0/"):
                self._graph(told, parts.path, asked)
            else:
                self._error(404, "ResourceNotFound")

    def do_POST(self) -> None:
        told = self.server.told
        body = self.rfile.read(int(self.headers.get("content-length", 0))).decode()
        given = {name: values[0] for name, values in parse_qs(body).items()}
        if told.slow is not None and given.get("grant_type") == "refresh_token":
            told.slow.wait(10)
        with told.lock:
            told.asked.append(f"POST {self.path} {given.get('grant_type')}")
            self._token(told, given)

    def _consent(self, told: Microsoft, asked: dict[str, str]) -> None:
        """Consent at once, as a person would after some clicks."""
        wrong = (
            asked.get("response_type") != "code"
            or asked.get("client_id") != CLIENT
            or asked.get("redirect_uri") != REDIRECT
            or asked.get("code_challenge_method") != "S256"
            or len(asked.get("code_challenge", "")) != 43
            or "offline_access" not in asked.get("scope", "").split()
        )
        if wrong:
            self._error(400, "invalid_request")
            return
        code = seeded(f"code-{next(told.numbers)}")
        told.consents[code] = asked
        self.send_response(302)
        back = urlencode({"code": code, "state": asked["state"]})
        self.send_header("location", f"{REDIRECT}?{back}")
        self.send_header("content-length", "0")
        self.end_headers()

    def _token(self, told: Microsoft, given: dict[str, str]) -> None:
        if told.broken:
            told.broken -= 1
            self._json(503, {"error": "temporarily_unavailable"})
        elif given.get("client_id") != CLIENT:
            self._json(400, {"error": "invalid_client"})
        elif given.get("grant_type") == "authorization_code":
            self._redeem(told, given)
        elif given.get("refresh_token") in told.refresh:
            told.refresh.discard(given["refresh_token"])
            told.refreshed += 1
            self._json(200, told.issued())
        else:
            self._json(400, {"error": "invalid_grant"})

    def _redeem(self, told: Microsoft, given: dict[str, str]) -> None:
        consent = told.consents.pop(given.get("code", ""), None)
        digest = hashlib.sha256(given.get("code_verifier", "").encode()).digest()
        challenge = base64.urlsafe_b64encode(digest).rstrip(b"=").decode()
        if (
            consent is None
            or consent["code_challenge"] != challenge
            or consent["redirect_uri"] != given.get("redirect_uri")
        ):
            self._json(400, {"error": "invalid_grant"})
            return
        told.redeemed += 1
        self._json(200, told.issued())

    def _graph(self, told: Microsoft, path: str, asked: dict[str, str]) -> None:
        if self.headers.get("authorization", "").removeprefix("Bearer ") not in told.access:
            self._error(401, "InvalidAuthenticationToken")
        elif told.busy:
            told.busy -= 1
            self._error(429, "TooManyRequests", {"retry-after": "7"})
        elif told.broken:
            told.broken -= 1
            self._error(503, "ServiceNotAvailable")
        elif path == "/v1.0/me":
            self._json(200, {"userPrincipalName": "office@example.com"})
        elif path == "/v1.0/me/mailFolders":
            named = asked.get("$filter", "").partition("'")[2].rstrip("'")
            known = {one.folder for one in told.letters}
            self._json(200, {"value": [{"id": named}] if named in known else []})
        elif found := _DELTA.fullmatch(path):
            self._delta(told, found[1], asked)
        elif found := _FILES.fullmatch(path):
            self._files(told.letters[int(found[1])], found[2])
        else:
            self._error(404, "ErrorItemNotFound")

    def _delta(self, told: Microsoft, folder: str, asked: dict[str, str]) -> None:
        if told.forgets and ("$deltatoken" in asked or "$skiptoken" in asked):
            told.forgets = False
            self._error(410, "syncStateNotFound")
            return
        token = asked.get("$deltatoken") or asked.get("$skiptoken") or f"0 {self._since(asked)}"
        begin, _, since = token.partition(" ")
        size = min(told.page, int((_SIZE.search(self.headers.get("prefer", "")) or [0, 99])[1]))
        fresh = [
            number
            for number, one in enumerate(told.letters)
            if number >= int(begin) and one.folder == folder
            if one.received >= datetime.fromisoformat(since)
        ]
        taken, more = fresh[:size], len(fresh) > size
        end = taken[-1] + 1 if more else len(told.letters)
        link = urlencode({"$skiptoken" if more else "$deltatoken": f"{end} {since}"})
        name = "@odata.nextLink" if more else "@odata.deltaLink"
        place = f"{told.url}/v1.0/me/mailFolders/{folder}/messages/delta?{link}"
        value = [_message(number, told.letters[number]) for number in taken]
        self._json(200, {"value": value, name: place})

    def _since(self, asked: dict[str, str]) -> str:
        return asked["$filter"].removeprefix("receivedDateTime ge ").replace("Z", "+00:00")

    def _files(self, letter: Letter, wanted: str | None) -> None:
        if wanted is not None:
            name, content = letter.files[int(wanted)]
            self._json(200, {"name": name, "contentBytes": base64.b64encode(content).decode()})
            return
        listed: list[JsonObject] = [
            {
                "@odata.type": "#microsoft.graph.fileAttachment",
                "id": str(number),
                "name": name,
                "contentType": "application/pdf",
                "size": len(content),
            }
            for number, (name, content) in enumerate(letter.files)
        ]
        self._json(200, {"value": [*listed, {"@odata.type": "#microsoft.graph.itemAttachment"}]})

    def _error(self, status: int, code: str, headers: dict[str, str] | None = None) -> None:
        self._json(status, {"error": {"code": code, "message": code}}, headers)

    def _json(self, status: int, body: object, headers: dict[str, str] | None = None) -> None:
        content = json.dumps(body).encode()
        self.send_response(status)
        for name, value in {"content-type": "application/json", **(headers or {})}.items():
            self.send_header(name, value)
        self.send_header("content-length", str(len(content)))
        self.end_headers()
        self.wfile.write(content)


def _message(number: int, letter: Letter) -> JsonObject:
    if letter.removed:
        return {"id": str(number), "@removed": {"reason": "deleted"}}
    return {
        "id": str(number),
        "internetMessageId": letter.message_id or f"<{number}@example.com>",
        "receivedDateTime": letter.received.strftime("%Y-%m-%dT%H:%M:%SZ"),
        "from": {"emailAddress": {"name": "Anna", "address": letter.sender}},
        "toRecipients": [{"emailAddress": {"address": "office@example.com"}}],
        "ccRecipients": [],
        "subject": letter.subject,
        "body": {"contentType": "text", "content": letter.text},
        "hasAttachments": bool(letter.files),
        "isDraft": letter.draft,
    }
