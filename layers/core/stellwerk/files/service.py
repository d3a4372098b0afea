"""Files, as people and programs use them."""

from __future__ import annotations

import hashlib
import re

from stellwerk.files.model import File, FileId
from stellwerk.files.ports import Files
from stellwerk.kernel.clock import Clock
from stellwerk.kernel.errors import BadInput
from stellwerk.kernel.ids import new_id
from stellwerk.kernel.pages import Page
from stellwerk.tenancy.access import Level, Verb
from stellwerk.tenancy.auditing import Audit
from stellwerk.tenancy.scope import Scope, require

TABLE = "files"
LARGEST = 4 * 1024 * 1024
"""Bytes of a file: what fits through API Gateway and Lambda in one request."""
LONGEST_NAME = 200
_TYPE = re.compile(r"[a-z0-9][a-z0-9!#$&^_.+-]{0,63}/[a-z0-9][a-z0-9!#$&^_.+-]{0,63}")
_UNKNOWN = "application/octet-stream"


class TooLarge(BadInput):
    """There are more bytes than can be taken at once."""


class FileService:
    """Keeps, lists, hands out and removes the files of an instance."""

    def __init__(self, files: Files, audit: Audit, clock: Clock) -> None:
        self._files = files
        self._audit = audit
        self._clock = clock

    def add(self, scope: Scope, name: str, content: bytes, *, type: str = "") -> File:
        """Keep a file. Raises BadInput for a bad name or media type, TooLarge beyond 4 MiB."""
        require(scope, TABLE, Verb.CREATE)
        now = self._clock.now()
        file = File(
            id=FileId(new_id(now)),
            name=checked_name(name),
            type=checked_type(type),
            size=_checked_size(content),
            sha256=hashlib.sha256(content).hexdigest(),
            created_by=scope.user,
            created=now,
        )
        with self._audit.act(scope, "file.create", f"file:{file.id}") as act:
            added = self._files.add(scope, file, content)
            act.after(added)
        return added

    def get(self, scope: Scope, file: FileId) -> File:
        """Return what is known of a file; raises NotFound."""
        found = self._files.get(scope, file)
        require(scope, TABLE, Verb.READ, found.created_by)
        return found

    def content(self, scope: Scope, file: FileId) -> tuple[File, bytes]:
        """Return a file with its content; raises NotFound."""
        found = self.get(scope, file)
        return found, self._files.content(scope, found)

    def list(self, scope: Scope, *, cursor: str | None = None, limit: int = 50) -> Page[File]:
        """Return a page of the files that the scope may read, the newest first."""
        own = require(scope, TABLE, Verb.READ) is Level.MY
        created_by = scope.user if own else None
        return self._files.list(scope, created_by=created_by, cursor=cursor, limit=limit)

    def remove(self, scope: Scope, file: FileId) -> None:
        """Remove a file; raises NotFound."""
        found = self._files.get(scope, file)
        require(scope, TABLE, Verb.DELETE, found.created_by)
        with self._audit.act(scope, "file.delete", f"file:{file}") as act:
            act.before(found)
            self._files.remove(scope, found)


def checked_name(name: str) -> str:
    """Return the last part of a path that a browser may send; a name has no control characters."""
    last = re.split(r"[/\\]", name)[-1].strip()
    if 0 < len(last) <= LONGEST_NAME and last.isprintable() and last not in {".", ".."}:
        return last
    raise BadInput(
        "The file's name is empty, too long, or has characters that no name can have.",
        remedy=f"Give it a name of up to {LONGEST_NAME} printable characters.",
    )


def checked_type(type: str) -> str:
    """Return a media type without its parameters; none given is unknown bytes."""
    plain = type.partition(";")[0].strip().lower() or _UNKNOWN
    if _TYPE.fullmatch(plain):
        return plain
    raise BadInput(
        "The file's media type cannot be read.", remedy="Write it as in application/pdf."
    )


def _checked_size(content: bytes) -> int:
    if len(content) <= LARGEST:
        return len(content)
    raise TooLarge(
        f"A file may have {LARGEST} bytes; this one has {len(content)}.",
        remedy="Split it, or make it smaller.",
    )
