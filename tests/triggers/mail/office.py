"""A floor with a mailbox on it: workflows that mail starts, and nodes that wait for it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace

from stellwerk.kernel.ids import NodeKey, WorkflowId
from stellwerk.kernel.json import JsonObject, JsonValue
from stellwerk.runs.deadline import Deadline
from stellwerk.runs.model import Run
from stellwerk.tenancy.scope import Scope, of_platform
from stellwerk.toolboxes.connections import New
from stellwerk.toolboxes.mail import Mailbox
from stellwerk.toolboxes.model import Connection, ConnectionId, Kind
from stellwerk.triggers.mail.handing import Handing
from stellwerk.triggers.mail.model import BoxKey
from stellwerk.triggers.mail.part import MailPart
from stellwerk.triggers.mail.polling import Poller, Sorting
from stellwerk.triggers.mail.rounds import MailRounds
from stellwerk.triggers.model import Armed, TriggerNode
from tests.connections.desk import Desk
from tests.fakes.consent import consented
from tests.fakes.files import FakeFiles
from tests.fakes.graph import REDIRECT, Microsoft
from tests.fakes.mailserver import PASSWORD, MailServer
from tests.fakes.people import FakeNotices
from tests.handlers.floor import Floor


@dataclass
class Office:
    """All of it in memory, over a real mailbox or Microsoft's in small."""

    server: MailServer | None = None
    microsoft: Microsoft = field(default_factory=Microsoft)

    def __post_init__(self) -> None:
        self.floor = Floor()
        allowed = (self.server.place,) if self.server else ()
        self.desk = Desk(self.microsoft, allowed=allowed, clock=self.floor.clock)
        self.floor.use(self.desk)
        self.files, self.boxes = FakeFiles(), self.floor.mailboxes
        self.scope = of_platform(self.floor.scope.mandate).at(self.floor.scope.instance)
        world, assembly = self.floor.world, self.floor.assembly
        handing = Handing(self.files, self.floor.clock)
        sorting = Sorting(world, assembly.firing, self.floor.mail.waits, handing)
        self._sorting = sorting
        self.reopen(self.opened)
        self.part = MailPart(self.boxes, self.floor.clock)

    def opened(self, scope: Scope, connection: Connection) -> Mailbox:
        """Open a mailbox, as the poller does."""
        return self.desk.accounts.mailbox(self.floor.scope, connection)

    def reopen(self, opened: Callable[[Scope, Connection], Mailbox]) -> None:
        """Let mailboxes be opened so from now on."""
        poller = Poller(self.boxes, self.desk.store, opened, self._sorting)
        self.rounds = MailRounds(self.boxes, poller)

    def told(self) -> FakeNotices:
        """Let people be told of what they must mend; return who tells."""
        notices = FakeNotices()
        world = replace(self._sorting.world, notices=notices)
        self._sorting = replace(self._sorting, world=world)
        self.reopen(self.opened)
        return notices

    def mailbox(self) -> Connection:
        """Make the connection to the server's mailbox, or to Microsoft's."""
        scope = self.floor.scope
        if self.server is None:
            new = New(Kind.MICROSOFT, "Office 365", {}, {})
            made = self.desk.connections.create(scope, new)
            state, code = consented(self.desk.authorising.begin(scope, made.id, REDIRECT))
            return self.desk.authorising.finish(scope, state, code)
        new = New(Kind.SMTP_IMAP, "Office", self.server.settings, {"password": PASSWORD})
        return self.desk.connections.create(scope, new)

    def triggered(self, connection: Connection, slug: str = "demo", **more: str) -> WorkflowId:
        """Publish a workflow that mail starts, and arm it."""
        parameters: JsonObject = {"connection": connection.id, **more}
        nodes: dict[str, JsonObject] = {
            "start": {"type": "trigger.mail", "parameters": parameters},
        }
        workflow = self.floor.publish(nodes, slug=slug)
        self.arm(workflow, parameters)
        return workflow

    def arm(self, workflow: WorkflowId, parameters: JsonObject | None) -> None:
        """Arm the workflow's trigger; None: nothing of it fires any more."""
        found = self.floor.world.versions.workflow(self.floor.scope, workflow)
        nodes = (TriggerNode(NodeKey("start"), "trigger.mail", parameters),) if parameters else ()
        self.part.synchronise(self.floor.scope, Armed(found, nodes))

    def poll(self) -> JsonObject:
        """Go round once."""
        return self.rounds.go(Deadline.within(self.floor.clock, 60))

    def runs(self) -> list[Run]:
        """Return all runs, the oldest first."""
        return list(self.floor.memory.of(self.scope).runs.values())

    def payloads(self) -> list[JsonValue]:
        """Return what the runs were started with."""
        world = self.floor.world
        return [
            world.values.load(self.scope, run.input) for run in self.runs() if run.input is not None
        ]

    def subjects(self) -> list[str]:
        """Return the subjects of the mails that have started runs."""
        return [str(one["subject"]) for one in self.payloads() if isinstance(one, dict)]

    def box(self, connection: Connection, folder: str = "INBOX") -> str:
        """Return the id of a mailbox that is watched."""
        return BoxKey(ConnectionId(connection.id), folder).id

    def later(self, **passed: float) -> None:
        """Let time go by on the clock."""
        self.floor.clock.advance(**passed)
