"""How other processes find a running cloud, and how two are kept off one data folder."""

from __future__ import annotations

import fcntl
import json
import os
import socket
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import asdict, dataclass
from pathlib import Path
from urllib.parse import urlsplit

FILE = "cloud.json"
LOCK = "lock"
ANSWER_SECONDS = 2.0


@dataclass(frozen=True)
class Endpoint:
    """A running cloud, as its file tells."""

    pid: int
    endpoint: str
    started: str


class DataInUse(RuntimeError):
    """Another cloud works on the data folder."""


def announce(data: Path, endpoint: Endpoint) -> None:
    """Write the file by which a cloud is found, whole or not at all."""
    draft = data / f"{FILE}.{endpoint.pid}"
    draft.write_text(json.dumps(asdict(endpoint)))
    draft.replace(data / FILE)


def withdraw(data: Path) -> None:
    """Remove the file: this cloud is not to be found any more."""
    (data / FILE).unlink(missing_ok=True)


def find_running(data: Path) -> Endpoint | None:
    """Return the cloud that runs on `data`, if its process lives and its endpoint answers."""
    found = _announced(data)
    if found is None or not _lives(found.pid) or not _answers(found.endpoint):
        return None
    return found


@contextmanager
def locked(data: Path) -> Iterator[None]:
    """Keep the data folder to this process while the block runs. Raises DataInUse."""
    data.mkdir(parents=True, exist_ok=True)
    with (data / LOCK).open("a+") as file:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError as error:
            raise DataInUse(_in_use(data)) from error
        yield


def _in_use(data: Path) -> str:
    found = _announced(data)
    who = f"process {found.pid} at {found.endpoint}" if found else "a process that is just starting"
    return (
        f"a local cloud already works on {data.resolve()}: {who}. Use that one, stop it, or choose "
        "another folder by STELLWERK_DATA"
    )


def _announced(data: Path) -> Endpoint | None:
    with suppress(FileNotFoundError, ValueError, TypeError):
        return Endpoint(**json.loads((data / FILE).read_text()))
    return None


def _lives(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except PermissionError:
        return True
    return True


def _answers(endpoint: str) -> bool:
    address = urlsplit(endpoint)
    with (
        suppress(OSError),
        socket.create_connection(
            (address.hostname or "", address.port or 80), timeout=ANSWER_SECONDS
        ),
    ):
        return True
    return False
