"""Who is signed in where: tokens in a file of the user's, which nobody else can read."""

from __future__ import annotations

import os
from datetime import UTC, datetime, timedelta
from pathlib import Path

import typer
from pydantic import BaseModel, ConfigDict, ValidationError

from stellwerk.kernel.errors import BadInput

FILE = "sessions.json"
EARLY = timedelta(seconds=60)
"""A token is renewed so long before it expires: it must hold until the answer."""


class Session(BaseModel):
    """Someone's tokens for an API. Machines have no refresh token."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    issuer: str
    client_id: str
    access_token: str
    refresh_token: str = ""
    expires: datetime

    @property
    def fresh(self) -> bool:
        """Whether the access token holds for a while."""
        return datetime.now(UTC) < self.expires - EARLY


class _Kept(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")

    sessions: dict[str, Session] = {}


class Sessions:
    """The sessions in a folder, by the API's address."""

    def __init__(self, folder: Path | None = None) -> None:
        self._file = (folder or Path(typer.get_app_dir("stellwerk"))) / FILE

    def find(self, api: str) -> Session | None:
        """Return the session at an API."""
        return self._read().get(api)

    def keep(self, api: str, session: Session) -> None:
        """Keep a session in place of the one before."""
        self._write({**self._read(), api: session})

    def forget(self, api: str) -> None:
        """Forget the session at an API."""
        self._write({name: kept for name, kept in self._read().items() if name != api})

    def _read(self) -> dict[str, Session]:
        try:
            return _Kept.model_validate_json(self._file.read_bytes()).sessions
        except FileNotFoundError:
            return {}
        except ValidationError as error:
            raise BadInput(
                f"{self._file} cannot be read as the sessions of this command.",
                remedy="Remove it and sign in again.",
            ) from error

    def _write(self, sessions: dict[str, Session]) -> None:
        """Write the file whole or not at all, never readable for others."""
        self._file.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        draft = self._file.with_suffix(f".{os.getpid()}")
        text = _Kept(sessions=sessions).model_dump_json(indent=2).encode()
        with os.fdopen(os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), "wb") as new:
            new.write(text)
        draft.replace(self._file)
