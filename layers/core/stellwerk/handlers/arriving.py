"""`@arrival`: a node that waits for a mail. Its phases are those of all waits."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime
from typing import TypeVar

from pydantic import BaseModel

from stellwerk.catalogue.model import Kind, NodeType
from stellwerk.handlers.declare import Parameters, Traits, declare, parameters_of
from stellwerk.handlers.session import Session
from stellwerk.handlers.waiting import LONGEST, WaitingHandler
from stellwerk.handlers.work import Work
from stellwerk.kernel.json import JsonObject
from stellwerk.runs.execution import Execution
from stellwerk.triggers.mail.model import BoxKey, MailFilter

RECEIVED, EXPIRED = "received", "expired"
P = TypeVar("P", bound=Parameters)


@dataclass(frozen=True)
class Expected:
    """Which mail a node waits for, where, and until when; None: as long as any wait can."""

    box: BoxKey
    filter: MailFilter
    due: datetime | None = None


class ArrivalHandler(WaitingHandler[P]):
    """Waits for the first mail that fits: fires `received` with it, or `expired` with null."""

    def __init__(
        self,
        declaration: NodeType,
        parameters: type[P],
        function: Callable[[P, Work], Expected],
    ) -> None:
        super().__init__(declaration, parameters)
        self._function = function

    def due(self, session: Session) -> datetime:
        """Return until when; raises what keeps the run from the mailbox."""
        expected = self._expected(session, session.parameters(self.parameters))
        user = session.call.run.user
        session.bench.mail.check(session.scope, user, expected.box.connection)
        return expected.due or session.site.now + LONGEST

    def wait(self, session: Session) -> None:
        """Watch the mailbox under the call's token."""
        expected = self._expected(session, session.recorded(self.parameters))
        step, token = session.execution.step, session.call.token
        session.bench.mail.waits.open(session.scope, step, expected.box, expected.filter, token)

    def close(self, session: Session, execution: Execution) -> JsonObject:
        """Fire with what has come."""
        expected = self._expected(session, session.recorded(self.parameters))
        mail = session.bench.mail.waits.close(session.scope, execution.step, expected.box)
        execution = session.arrive()  # it waits no more
        return execution.finish(EXPIRED if mail is None else RECEIVED, mail)

    def _expected(self, session: Session, parameters: P) -> Expected:
        return self._function(parameters, session.work(session.seconds))


def arrival(
    *, title: str, result: type[BaseModel], connection: str
) -> Callable[[Callable[[P, Work], Expected]], ArrivalHandler[P]]:
    """Declare a node that waits for a mail in an account of the kind `connection`."""
    traits = Traits(
        title=title,
        kind=Kind.WAIT,
        idempotent=True,
        ports=(RECEIVED, EXPIRED),
        connection=connection,
    )

    def declared(function: Callable[[P, Work], Expected]) -> ArrivalHandler[P]:
        parameters: type[P] = parameters_of(function)
        declaration = declare(function, traits, parameters=parameters, result=result)
        return ArrivalHandler(declaration, parameters, function)

    return declared
