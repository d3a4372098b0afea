"""What handlers work with: the services of runs, and what few nodes need besides."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

from stellwerk.runs.assembly import Assembly
from stellwerk.runs.ports import KeyValues

if TYPE_CHECKING:
    from stellwerk.triggers.mail.desk import MailDesk


class Bench(Protocol):
    """The part of all services that the step wrapper and the nodes use."""

    @property
    def assembly(self) -> Assembly:
        """The services of runs."""

    @property
    def key_values(self) -> KeyValues:
        """The small store of each workflow."""

    @property
    def mail(self) -> MailDesk:
        """What waits for mail."""

    @property
    def http_allow(self) -> tuple[str, ...]:
        """`host:port` that `http.request` may call though the address is private."""
