"""The key-value stores of workflows in memory."""

from __future__ import annotations

from stellwerk.kernel.errors import Conflict
from stellwerk.kernel.ids import WorkflowId
from stellwerk.kernel.json import JsonValue
from stellwerk.tenancy.scope import Scope
from tests.fakes.memory import Memory


class FakeKeyValues:
    """Keeps values and known increments in dicts."""

    def __init__(self, memory: Memory) -> None:
        self._memory = memory

    def get(self, scope: Scope, workflow: WorkflowId, key: str) -> JsonValue:
        with self._memory.lock:
            return self._memory.of(scope).data.get((workflow, key))

    def put(self, scope: Scope, workflow: WorkflowId, key: str, value: JsonValue) -> None:
        with self._memory.lock:
            self._memory.of(scope).data[workflow, key] = value

    def delete(self, scope: Scope, workflow: WorkflowId, key: str) -> None:
        with self._memory.lock:
            self._memory.of(scope).data.pop((workflow, key), None)

    def increment(
        self, scope: Scope, workflow: WorkflowId, key: str, by: int | float, *, once: str
    ) -> JsonValue:
        with self._memory.lock:
            tenant = self._memory.of(scope)
            if (workflow, key, once) not in tenant.sums:
                before = tenant.data.get((workflow, key)) or 0
                if isinstance(before, bool) or not isinstance(before, int | float):
                    raise Conflict(f"'{key}' holds no number")
                tenant.data[workflow, key] = before + by
                tenant.sums[workflow, key, once] = before + by
            return tenant.sums[workflow, key, once]
