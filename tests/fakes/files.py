"""Files in memory."""

from __future__ import annotations

from collections import defaultdict

from stellwerk.files.model import File, FileId
from stellwerk.kernel.errors import Conflict, NotFound
from stellwerk.kernel.ids import UserId
from stellwerk.kernel.pages import Page
from stellwerk.tenancy.scope import Scope
from tests.fakes.memory import at, paged


class FakeFiles:
    """Keeps files in dicts, one for each instance."""

    def __init__(self) -> None:
        self._kept: dict[tuple[str, str], dict[FileId, tuple[File, bytes]]] = defaultdict(dict)

    def add(self, scope: Scope, file: File, content: bytes) -> File:
        if file.id in self._of(scope):
            raise Conflict(f"there is a file {file.id} already")
        kept = file.model_copy(update={"revision": 1})
        self._of(scope)[file.id] = (kept, content)
        return kept

    def get(self, scope: Scope, file: FileId) -> File:
        if file not in self._of(scope):
            raise NotFound(f"there is no file {file}")
        return self._of(scope)[file][0]

    def content(self, scope: Scope, file: File) -> bytes:
        self.get(scope, file.id)
        return self._of(scope)[file.id][1]

    def list(
        self, scope: Scope, *, created_by: UserId | None, cursor: str | None, limit: int
    ) -> Page[File]:
        found = [
            file
            for file, _ in self._of(scope).values()
            if created_by is None or file.created_by == created_by
        ]
        return paged(found, lambda file: at(file.created, file.id), cursor=cursor, limit=limit)

    def remove(self, scope: Scope, file: File) -> None:
        self._of(scope).pop(file.id, None)

    def _of(self, scope: Scope) -> dict[FileId, tuple[File, bytes]]:
        return self._kept[scope.mandate, scope.instance]
