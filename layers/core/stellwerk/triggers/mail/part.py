"""What triggers of published workflows watch: kept by difference when what may fire changes."""

from __future__ import annotations

from collections.abc import Iterator

from stellwerk.kernel.clock import Clock
from stellwerk.kernel.ids import NodeKey
from stellwerk.kernel.json import JsonObject
from stellwerk.tenancy.scope import Scope
from stellwerk.toolboxes.model import ConnectionId
from stellwerk.triggers.mail.model import INBOX, BoxKey, MailFilter, Watcher, trigger_id
from stellwerk.triggers.mail.ports import Mailboxes, Watching
from stellwerk.triggers.model import Armed, TriggerNode

TYPE = "trigger.mail"


class MailPart:
    """Implements `triggers.model.Part`. Requests: 1, and 3 for each trigger that differs."""

    def __init__(self, mailboxes: Mailboxes, clock: Clock) -> None:
        self._mailboxes = mailboxes
        self._clock = clock

    def synchronise(self, scope: Scope, armed: Armed) -> None:
        """Let exactly the armed triggers watch; one that stays as it is misses nothing."""
        known = self._mailboxes.of_workflow(scope, armed.workflow.id)
        wanted = dict(self._wanted(armed))
        for node, before in known.items():
            after = wanted.get(node)
            if after is None or after.box.id != before.box.id:
                self._mailboxes.unwatch(scope, before.box.id, before.watcher)
        for node, after in wanted.items():
            if node not in known or not _same(known[node], after):
                self._mailboxes.watch(scope, after.box, after.watcher, self._clock.now())

    def _wanted(self, armed: Armed) -> Iterator[tuple[NodeKey, Watching]]:
        now = self._clock.now()
        for node in armed.of(TYPE):
            connection = node.parameters.get("connection")
            if isinstance(connection, str):
                box = BoxKey(ConnectionId(connection), _text(node.parameters, "folder") or INBOX)
                yield (
                    node.key,
                    Watching(
                        box,
                        Watcher(
                            id=trigger_id(armed.workflow.id, node.key),
                            since=now,
                            filter=filter_of(node),
                            workflow=armed.workflow.id,
                            node=node.key,
                        ),
                    ),
                )


def filter_of(node: TriggerNode) -> MailFilter:
    """Return for which mail a trigger watches; its parameters are texts as they were drawn."""
    return MailFilter(
        sender=_text(node.parameters, "sender"),
        subject=_text(node.parameters, "subject"),
        attachment=_text(node.parameters, "attachment"),
    )


def _same(before: Watching, after: Watching) -> bool:
    return before.box.id == after.box.id and before.watcher.filter == after.watcher.filter


def _text(parameters: JsonObject, name: str) -> str:
    value = parameters.get(name)
    return value if isinstance(value, str) else ""
