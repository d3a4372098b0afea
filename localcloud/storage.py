"""What stays when the process ends: one SQLite file in the data folder.

A write is committed before the call that made it returns: the process may be killed at any moment.
(WAL with `synchronous=NORMAL`: only a power cut can take the last moments, never consistency.)
State machines are kept as well, so that they need not be compiled again at a start.
"""

from __future__ import annotations

import base64
import json
import sqlite3
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pydantic_core import to_json

from localcloud.dynamodb.values import Item
from localcloud.dynamodb.writes import Write

FILE = "cloud.db"
_LAYOUT = 1
"""Raised when the tables of the file change; a file of another layout is refused."""
_CHECKPOINT_PAGES = 8192
"""After how many pages the log is worked into the file: rarely, for it makes one call wait."""
_SCHEMA = """
create table if not exists items (
    tab text not null, key text not null, body text not null, primary key (tab, key)
) without rowid;
create table if not exists objects (
    bucket text not null, key text not null, body blob not null, about text not null,
    primary key (bucket, key)
);
create table if not exists machines (
    arn text primary key, name text not null, definition text not null, role text not null
);
create table if not exists secrets (name text primary key, body text not null);
"""


class WrongLayout(RuntimeError):
    """The file was written by another version of the local cloud."""


@dataclass(frozen=True)
class StoredObject:
    """An S3 object; `about` are its headers and metadata."""

    bucket: str
    key: str
    body: bytes
    about: dict[str, str]


@dataclass(frozen=True)
class StoredMachine:
    """A state machine."""

    arn: str
    name: str
    definition: str
    role: str


class Storage:
    """The file. Safe for use from any thread."""

    def __init__(self, data: Path) -> None:
        self._path = data / FILE
        self._lock = threading.Lock()
        self._path.touch()
        self._path.chmod(0o600)  # it holds secrets; what SQLite lays beside it is as closed
        self._db = sqlite3.connect(
            self._path, check_same_thread=False, isolation_level=None, cached_statements=64
        )
        self._db.execute("pragma journal_mode=wal")
        self._db.execute("pragma synchronous=normal")
        self._db.execute(f"pragma wal_autocheckpoint={_CHECKPOINT_PAGES}")
        self._lay_out()

    def close(self) -> None:
        """Close the file."""
        with self._lock:
            self._db.close()

    def commit(self, writes: Sequence[Write]) -> None:
        """Keep the items that these writes leave, all or none."""
        statements = [_statement(write) for write in writes]
        if len(statements) == 1:
            with self._lock:
                self._db.execute(*statements[0])
            return
        with self._transaction() as db:
            for statement in statements:
                db.execute(*statement)

    def items(self) -> Iterator[tuple[str, Item]]:
        """All items, each with the name of its table."""
        for table, body in self._rows("select tab, body from items"):
            yield table, loads(body)

    def keep_object(self, kept: StoredObject) -> None:
        """Keep an S3 object."""
        row = (kept.bucket, kept.key, kept.body, json.dumps(kept.about))
        with self._transaction() as db:
            db.execute("replace into objects values (?,?,?,?)", row)

    def drop_object(self, bucket: str, key: str) -> None:
        """Forget an S3 object."""
        with self._transaction() as db:
            db.execute("delete from objects where bucket=? and key=?", (bucket, key))

    def object_keys(self, bucket: str) -> list[str]:
        """The keys of a bucket's objects."""
        return [key for (key,) in self._rows("select key from objects where bucket=?", bucket)]

    def objects(self) -> Iterator[StoredObject]:
        """All S3 objects."""
        for bucket, key, body, about in self._rows("select * from objects"):
            yield StoredObject(bucket, key, body, json.loads(about))

    def keep_machine(self, machine: StoredMachine) -> None:
        """Keep a state machine."""
        row = (machine.arn, machine.name, machine.definition, machine.role)
        with self._transaction() as db:
            db.execute("replace into machines values (?,?,?,?)", row)

    def drop_machine(self, arn: str) -> None:
        """Forget a state machine."""
        with self._transaction() as db:
            db.execute("delete from machines where arn=?", (arn,))

    def machines(self) -> Iterator[StoredMachine]:
        """All state machines."""
        for row in self._rows("select arn, name, definition, role from machines"):
            yield StoredMachine(*row)

    def keep_secret(self, name: str, text: str) -> None:
        """Keep a secret."""
        with self._transaction() as db:
            db.execute("replace into secrets values (?,?)", (name, text))

    def drop_secret(self, name: str) -> None:
        """Forget a secret."""
        with self._transaction() as db:
            db.execute("delete from secrets where name=?", (name,))

    def secrets(self) -> Iterator[tuple[str, str]]:
        """All secrets by name."""
        yield from self._rows("select name, body from secrets")

    def _lay_out(self) -> None:
        (found,) = self._db.execute("pragma user_version").fetchone()
        if found not in (0, _LAYOUT):
            raise WrongLayout(
                f"{self._path} was written by another version of the local cloud (layout {found}, "
                f"this one knows {_LAYOUT}): move it away, or choose another data folder"
            )
        self._db.executescript(_SCHEMA)
        self._db.execute(f"pragma user_version={_LAYOUT}")

    def _rows(self, query: str, *parameters: str) -> list[Any]:
        with self._lock:
            return self._db.execute(query, parameters).fetchall()

    @contextmanager
    def _transaction(self) -> Iterator[sqlite3.Connection]:
        with self._lock, self._db:
            self._db.execute("begin")
            yield self._db


def _statement(write: Write) -> tuple[str, tuple[str, ...]]:
    where = (write.table.name, dumps(write.table.keys.of(write.after or write.before or {})))
    if write.after is None:
        return "delete from items where tab=? and key=?", where
    return "replace into items values (?,?,?)", (*where, dumps(write.after))


def dumps(item: Item) -> str:
    """Return an item as JSON; bytes become an object that says so."""
    if all("S" in value or "N" in value for value in item.values()):
        return to_json(item).decode()  # texts alone, as nearly all are: a third of the time
    return _ENCODER.encode(item)


def loads(text: str) -> Item:
    """Return the item of a JSON text."""
    item: Item = json.loads(text, object_hook=_from_bytes)
    return item


def _bytes(value: object) -> dict[str, str]:
    if isinstance(value, bytes):
        return {"base64": base64.b64encode(value).decode()}
    raise TypeError(f"an item holds {type(value).__name__}, which DynamoDB has no type for")


def _from_bytes(value: dict[str, Any]) -> Any:
    encoded = value.get("base64")
    if len(value) == 1 and isinstance(encoded, str):
        return base64.b64decode(encoded)
    return value


_ENCODER = json.JSONEncoder(separators=(",", ":"), ensure_ascii=False, default=_bytes)
