"""What triggers keep, in memory."""

from __future__ import annotations

import threading
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, field

from stellwerk.kernel.errors import NotFound, ServiceUnavailable
from stellwerk.kernel.ids import NodeKey, WorkflowId
from stellwerk.tenancy.bus import BusEvent
from stellwerk.tenancy.scope import SYSTEM, Scope
from stellwerk.triggers.hooks import Address, Hook
from stellwerk.triggers.subscriptions import Subscription
from tests.fakes.memory import replaced


class FakeHooks:
    """Keeps hooks in a dict."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._kept: dict[tuple[str, str, str, str], Hook] = {}

    def of_workflow(self, scope: Scope, workflow: WorkflowId) -> Sequence[Hook]:
        place = (scope.mandate, scope.instance, workflow)
        return [hook for key, hook in sorted(self._kept.items()) if key[:3] == place]

    def get(self, scope: Scope, workflow: WorkflowId, node: NodeKey) -> Hook:
        found = self._kept.get((scope.mandate, scope.instance, workflow, node))
        if found is None:
            raise NotFound(f"node '{node}' has no address")
        return found

    def write(self, scope: Scope, hook: Hook) -> Hook:
        key = (scope.mandate, scope.instance, hook.workflow, hook.node)
        with self._lock:
            self._kept[key] = replaced(self._kept.get(key), hook)
            return self._kept[key]

    def remove(self, scope: Scope, hook: Hook) -> None:
        key = (scope.mandate, scope.instance, hook.workflow, hook.node)
        with self._lock:
            if self._kept.get(key) == hook:
                del self._kept[key]


class FakeAddresses:
    """Keeps addresses in a dict, for the platform alone."""

    def __init__(self) -> None:
        self.kept: dict[tuple[str, str], Address] = {}

    def find(self, scope: Scope, token: str) -> Address | None:
        return self.kept.get((scope.mandate, token)) if scope.mandate == SYSTEM else None

    def keep(self, scope: Scope, token: str, address: Address) -> None:
        self.kept[scope.mandate, token] = address

    def forget(self, scope: Scope, token: str) -> None:
        self.kept.pop((scope.mandate, token), None)


class FakeSecrets:
    """Keeps secrets in a dict."""

    def __init__(self) -> None:
        self._kept: dict[tuple[str, str, str], str] = {}

    def get(self, scope: Scope, name: str) -> str | None:
        return self._kept.get((scope.mandate, scope.instance, name))

    def put(self, scope: Scope, name: str, secret: str) -> None:
        self._kept[scope.mandate, scope.instance, name] = secret


class FakeSubscriptions:
    """Keeps subscriptions by workflow; counts what is written."""

    def __init__(self) -> None:
        self.writes = 0
        self._kept: dict[tuple[str, str], dict[str, list[Subscription]]] = defaultdict(dict)

    def of(self, scope: Scope, topic: str) -> Sequence[Subscription]:
        workflows = self._kept[scope.mandate, scope.instance]
        return [one for all_ in workflows.values() for one in all_ if topic in one.topics]

    def replace(self, scope: Scope, workflow: WorkflowId, wanted: Sequence[Subscription]) -> None:
        kept = self._kept[scope.mandate, scope.instance]
        if kept.get(workflow, []) != list(wanted):
            self.writes += 1
            kept[workflow] = list(wanted)


@dataclass
class FakeBus:
    """Keeps what is told, or is down."""

    told: list[BusEvent] = field(default_factory=list)
    down: bool = False

    def publish(self, scope: Scope, event: BusEvent) -> None:
        if self.down:
            raise ServiceUnavailable("the bus does not answer")
        place = {"mandate": scope.mandate, "instance": scope.instance}
        self.told.append(event.model_copy(update=place))
