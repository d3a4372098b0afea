"""Subscriptions: which armed triggers wait for which events, found without looking at workflows."""

from __future__ import annotations

import fnmatch
import logging
import re
from collections.abc import Sequence
from functools import lru_cache
from typing import Protocol

from pydantic import BaseModel, ConfigDict, Field

from stellwerk.kernel.errors import BadInput
from stellwerk.kernel.ids import NodeKey, WorkflowId
from stellwerk.kernel.json import JsonObject
from stellwerk.runs.contention import settle
from stellwerk.tenancy.scope import Scope
from stellwerk.triggers.model import Armed, TriggerNode
from stellwerk.triggers.patterns import check_pattern, values_of

LOG = logging.getLogger(__name__)
EVENT, FILE, FAILURE = "trigger.event", "trigger.file", "trigger.failure"
TYPES = (EVENT, FILE, FAILURE)
ANY_SOURCE = "event"
FILES, FAILURES = "file", "failure"
"""Topics: what all file and all failure triggers wait for."""


class Subscription(BaseModel):
    """A trigger node that waits for events."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    workflow: WorkflowId
    node: NodeKey
    type: str
    parameters: JsonObject = Field(default_factory=dict)

    @classmethod
    def of(cls, workflow: WorkflowId, node: TriggerNode) -> Subscription:
        """Return the subscription of an armed node."""
        return cls(workflow=workflow, node=node.key, type=node.type, parameters=node.parameters)

    @property
    def topics(self) -> tuple[str, ...]:
        """Under which topics it is found: those of its sources, if it names them all."""
        if self.type == FILE:
            return (FILES,)
        if self.type == FAILURE:
            return (FAILURES,)
        pattern = self.parameters.get("pattern")
        sources = values_of(pattern, "source") if isinstance(pattern, dict) else None
        if not sources:
            return (ANY_SOURCE,)
        return tuple(dict.fromkeys(topic_of(source) for source in sources))


class Subscriptions(Protocol):
    """The subscriptions of instances."""

    def of(self, scope: Scope, topic: str) -> Sequence[Subscription]:
        """Return all subscriptions to a topic: one query."""

    def replace(self, scope: Scope, workflow: WorkflowId, wanted: Sequence[Subscription]) -> None:
        """Let these be the workflow's subscriptions; writes only what differs."""


class SubscriptionPart:
    """Subscribes the armed triggers of events, files and failures."""

    def __init__(self, subscriptions: Subscriptions) -> None:
        self._subscriptions = subscriptions

    def synchronise(self, scope: Scope, armed: Armed) -> None:
        """Make the workflow's subscriptions what `armed` wants."""
        workflow = armed.workflow.id
        nodes = [node for node in armed.nodes if node.type in TYPES and _can_match(node)]
        wanted = [Subscription.of(workflow, node) for node in nodes]
        settle(lambda: self._subscriptions.replace(scope, workflow, wanted))


def _can_match(node: TriggerNode) -> bool:
    """Say whether an event's pattern can be read; one that cannot must not stop the others."""
    if node.type != EVENT:
        return True
    try:
        check_pattern(node.parameters.get("pattern"))
    except BadInput as fault:
        LOG.warning("node %s waits for nothing: %s", node.key, fault)
        return False
    return True


def topic_of(source: str) -> str:
    """Return the topic of those who wait for events of one source."""
    return f"event {source}"


def named(pattern: str, name: str) -> bool:
    """Say whether a file's name fits: `*` any characters, `?` one, `[ab]` one of these."""
    return _glob(pattern).match(name) is not None


@lru_cache(256)
def _glob(pattern: str) -> re.Pattern[str]:
    return re.compile(fnmatch.translate(pattern))
