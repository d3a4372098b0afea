"""A journal and values on disk, so that a process holds nothing of them but what it works with."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator, Sequence
from pathlib import Path

from stellwerk.kernel.errors import Conflict, NotFound
from stellwerk.kernel.ids import RunId
from stellwerk.kernel.pages import Page
from stellwerk.runs.model import Step, StepKey
from stellwerk.tenancy.scope import Scope


class DiskJournal:
    """Keeps the steps of one run in SQLite."""

    def __init__(self, file: Path) -> None:
        self._rows = sqlite3.connect(file)
        for pragma in ("journal_mode = off", "synchronous = off"):
            self._rows.execute(f"pragma {pragma}")
        self._rows.execute(
            "create table steps (path text, node text, revision int, body text,"
            " primary key (path, node)) without rowid"
        )

    def read(self, scope: Scope, run: RunId, keys: Sequence[StepKey]) -> dict[StepKey, Step]:
        found = {}
        for key in keys:
            row = self._rows.execute(
                "select body from steps where path = ? and node = ?", tuple(key)
            ).fetchone()
            if row is not None:
                found[key] = Step.model_validate_json(row[0])
        return found

    def write(self, scope: Scope, step: Step) -> Step:
        stored = self.read(scope, step.run, [step.key]).get(step.key)
        if (stored.revision if stored else 0) != step.revision:
            raise Conflict(f"step {step.key.text} has changed")
        self.fill(scope, step.run, [step])
        return step.model_copy(update={"revision": step.revision + 1})

    def fill(self, scope: Scope, run: RunId, steps: Sequence[Step]) -> None:
        for step in steps:
            written = step.model_copy(update={"revision": step.revision + 1})
            row = (step.path, step.node, written.revision, written.model_dump_json())
            self._rows.execute("replace into steps values (?, ?, ?, ?)", row)
        self._rows.commit()

    def page(
        self, scope: Scope, run: RunId, *, cursor: str | None = None, limit: int = 1000
    ) -> Page[Step]:
        raise NotImplementedError

    def steps(self, scope: Scope, run: RunId) -> Iterator[Step]:
        last = ("", "")
        while rows := self._rows.execute(
            "select path, node, body from steps where (path, node) > (?, ?)"
            " order by path, node limit 500",
            last,
        ).fetchall():
            yield from (Step.model_validate_json(row[2]) for row in rows)
            last = rows[-1][:2]


class DiskValues:
    """Keeps large values in files."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    def put(self, scope: Scope, key: str, data: bytes) -> None:
        file = self._folder / key
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(data)

    def get(self, scope: Scope, key: str) -> bytes:
        file = self._folder / key
        if not file.is_file():
            raise NotFound(f"there is no value {key}")
        return file.read_bytes()
