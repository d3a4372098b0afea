"""Machines that sign in with a secret of their own."""

from __future__ import annotations

from typing import NoReturn, Protocol

from stellwerk.kernel.errors import Unauthenticated
from stellwerk.tenancy.model import User


class Machines(Protocol):
    """Knows the machines; `stellwerk.tenancy.secrets.KeptSecrets` is one."""

    def machine(self, client_id: str, secret: str) -> User:
        """Return the machine that these credentials are of; raises Unauthenticated."""


class NoMachines:
    """Knows none."""

    def machine(self, client_id: str, secret: str) -> NoReturn:
        """Refuse."""
        raise Unauthenticated("there are no machines here")
