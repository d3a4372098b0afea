"""What files need from the world. Errors as in `runs.ports`."""

from __future__ import annotations

from typing import Protocol

from stellwerk.files.model import File, FileId
from stellwerk.kernel.ids import UserId
from stellwerk.kernel.pages import Page
from stellwerk.tenancy.scope import Scope


class Files(Protocol):
    """The files of instances: what is known of them, and their contents."""

    def add(self, scope: Scope, file: File, content: bytes) -> File:
        """Keep a new file; its content comes first, so that no file is ever without."""

    def get(self, scope: Scope, file: FileId) -> File:
        """Return what is known of a file."""

    def content(self, scope: Scope, file: File) -> bytes:
        """Return its content."""

    def list(
        self, scope: Scope, *, created_by: UserId | None, cursor: str | None, limit: int
    ) -> Page[File]:
        """Return a page of the instance's files, or of those of one user, the newest first."""

    def remove(self, scope: Scope, file: File) -> None:
        """Remove a file, then its content; nothing if it is gone already."""
