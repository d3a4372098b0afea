"""A mailbox that is watched, who watches it, and for which mail."""

from __future__ import annotations

import hashlib
from datetime import datetime, timedelta
from fnmatch import fnmatchcase
from typing import NamedTuple

from pydantic import BaseModel, ConfigDict

from stellwerk.kernel.ids import ROOT, InstanceId, MandateId, NodeKey, Path, RunId, WorkflowId
from stellwerk.kernel.records import Record, Stored
from stellwerk.runs.model import StepKey
from stellwerk.toolboxes.mail import Mail
from stellwerk.toolboxes.model import ConnectionId

INBOX = "INBOX"
SKEW = timedelta(minutes=1)
"""By how much the clocks of mailboxes and ours may differ."""


class BoxKey(NamedTuple):
    """A folder of a connection's mailbox."""

    connection: ConnectionId
    folder: str

    @property
    def id(self) -> str:
        """What it is kept under; the inbox is the same however it is written."""
        folder = INBOX if self.folder.upper() == INBOX else self.folder
        return hashlib.sha256(f"{self.connection}\n{folder}".encode()).hexdigest()


class Watched(NamedTuple):
    """Where a mailbox is watched."""

    mandate: MandateId
    instance: InstanceId
    box: str


class MailFilter(BaseModel):
    """For which mail: all that is said holds together, and capitals do not count."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    sender: str = ""
    """Part of the sender's address or name."""
    subject: str = ""
    """Part of the subject."""
    attachment: str = ""
    """A pattern such as `*.pdf` that the name of an attachment fits; empty: with or without any."""

    def fits(self, mail: Mail) -> bool:
        """Say whether the mail is one of these; asks for its attachments only if it must."""
        sender = f"{mail.sender_name} <{mail.sender}>"
        if not (_in(self.sender, sender) and _in(self.subject, mail.subject)):
            return False
        pattern = self.attachment.casefold()
        return not pattern or any(fnmatchcase(one.name.casefold(), pattern) for one in mail.files())


class Box(Record):
    """A mailbox that is watched, and how far it was read."""

    connection: ConnectionId
    folder: str
    since: datetime
    """When somebody began to watch it."""
    mark: str = ""
    """How far it was read, in the mailbox's own words."""
    checked: datetime | None = None
    """When it was last read to its end."""
    failures: int = 0
    """How often in a row it could not be read."""
    retry_at: datetime | None = None
    """Before which it is left alone."""
    joined: int = 0
    """How often somebody began to watch it."""

    @property
    def key(self) -> BoxKey:
        """Which one it is."""
        return BoxKey(self.connection, self.folder)


class Watcher(BaseModel):
    """Who watches a mailbox: a trigger of a workflow, or a step of a run that waits."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    id: str
    since: datetime
    """Mail that came before is none of its."""
    filter: MailFilter = MailFilter()
    workflow: WorkflowId | None = None
    node: NodeKey
    run: RunId | None = None
    path: Path = ROOT
    token: str = ""
    """The task token that wakes the step."""
    due: datetime | None = None
    """When the step waits no longer."""
    mail: Stored | None = None
    """What has come for the step: the first mail that fits."""

    @property
    def step(self) -> StepKey:
        """Which step of its run waits."""
        return StepKey(self.path, self.node)

    def wants(self, mail: Mail) -> bool:
        """Say whether the mail is for it."""
        return mail.received >= self.since - SKEW and self.filter.fits(mail)


def trigger_id(workflow: WorkflowId, node: NodeKey) -> str:
    """Return the id of a trigger that watches."""
    return f"trigger#{workflow}#{node}"


def wait_id(run: RunId, step: StepKey, generation: int) -> str:
    """Return the id of a step that watches: the same for every try."""
    text = "\n".join((step.path, step.node, str(generation)))
    return f"wait#{run}#{hashlib.sha256(text.encode()).hexdigest()[:16]}"


def _in(part: str, text: str) -> bool:
    return part.casefold() in text.casefold()
