"""Workflows, versions, values and state machines in memory."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from stellwerk.kernel.errors import Conflict, NotFound
from stellwerk.kernel.ids import WorkflowId
from stellwerk.kernel.pages import Page
from stellwerk.tenancy.scope import Scope
from stellwerk.workflows.model import Version, Workflow
from stellwerk.workflows.ports import SharedWorkflow, Wanted
from tests.fakes.clock import START
from tests.fakes.memory import Memory, paged, replaced


class FakeVersions:
    """Keeps workflows and versions in dicts."""

    def __init__(self, memory: Memory) -> None:
        self._memory = memory

    def create(self, scope: Scope, workflow: Workflow, *versions: Version) -> Workflow:
        with self._memory.lock:
            if self.find(scope, workflow.slug) is not None:
                raise Conflict(f"a workflow called '{workflow.slug}' exists already")
            return self._write(scope, workflow, versions)

    def workflow(self, scope: Scope, workflow: WorkflowId) -> Workflow:
        with self._memory.lock:
            found = self._memory.of(scope).workflows.get(workflow)
        if found is None:
            raise NotFound(f"there is no workflow {workflow}")
        return found

    def find(self, scope: Scope, slug: str) -> Workflow | None:
        return next((found for found in self._workflows(scope) if found.slug == slug), None)

    def workflows(
        self, scope: Scope, wanted: Wanted, *, cursor: str | None, limit: int
    ) -> Page[Workflow]:
        found = filter(wanted.fits, self._workflows(scope))
        return paged(found, lambda item: item.slug, cursor=cursor, limit=limit, newest_first=False)

    def shared(self, scope: Scope, *, cursor: str | None, limit: int) -> Page[SharedWorkflow]:
        with self._memory.lock:
            found = [
                SharedWorkflow(instance, workflow)
                for instance in self._memory.instances(scope)
                for workflow in self._workflows(scope.at(instance))
                if workflow.shared
            ]
        return paged(found, _place, cursor=cursor, limit=limit, newest_first=False)

    def change(self, scope: Scope, before: Workflow, after: Workflow) -> Workflow:
        with self._memory.lock:
            return self._write(scope, after, [])

    def add(self, scope: Scope, workflow: Workflow, version: Version) -> tuple[Workflow, Version]:
        with self._memory.lock:
            named = workflow.model_copy(update={"latest": version.number})
            written = self._write(scope, named, [version])
            return written, self.get(scope, version.workflow, version.number)

    def save(self, scope: Scope, version: Version) -> Version:
        with self._memory.lock:
            return self._write_version(scope, version)

    def move(self, scope: Scope, workflow: Workflow, *versions: Version) -> Workflow:
        with self._memory.lock:
            return self._write(scope, workflow, versions)

    def get(self, scope: Scope, workflow: WorkflowId, number: int, trial: str = "") -> Version:
        with self._memory.lock:
            found = self._memory.of(scope).versions.get((workflow, number, trial))
        if found is None:
            raise NotFound(f"workflow {workflow} has no version {number}")
        return found

    def versions(
        self, scope: Scope, workflow: WorkflowId, *, cursor: str | None, limit: int
    ) -> Page[Version]:
        found = [
            version
            for version in self._versions(scope)
            if version.workflow == workflow and not version.trial
        ]
        return paged(found, lambda item: f"{item.number:08d}", cursor=cursor, limit=limit)

    def published_as(self, scope: Scope, workflow: WorkflowId, graph_hash: str) -> int | None:
        published = [
            version
            for version in self._versions(scope)
            if version.workflow == workflow and version.graph_hash == graph_hash
            if version.published_at is not None and not version.trial
        ]
        last = max(published, key=lambda version: version.published_at or START, default=None)
        return last.number if last else None

    def retiring(self, scope: Scope) -> Iterator[Version]:
        yield from (version for version in self._versions(scope) if version.retiring)

    def _write(self, scope: Scope, workflow: Workflow, versions: Sequence[Version]) -> Workflow:
        tenant = self._memory.of(scope)
        written = replaced(tenant.workflows.get(workflow.id), workflow)
        for version in versions:
            replaced(tenant.versions.get(_key(version)), version)
        for version in versions:
            self._write_version(scope, version)
        tenant.workflows[workflow.id] = written
        return written

    def _write_version(self, scope: Scope, version: Version) -> Version:
        versions = self._memory.of(scope).versions
        key = _key(version)
        versions[key] = replaced(versions.get(key), version)
        return versions[key]

    def _workflows(self, scope: Scope) -> list[Workflow]:
        with self._memory.lock:
            found = list(self._memory.of(scope).workflows.values())
        return sorted(found, key=lambda workflow: workflow.slug)

    def _versions(self, scope: Scope) -> list[Version]:
        with self._memory.lock:
            return list(self._memory.of(scope).versions.values())


def _key(version: Version) -> tuple[WorkflowId, int, str]:
    return version.workflow, version.number, version.trial


def _place(shared: SharedWorkflow) -> str:
    return f"{shared.workflow.slug}#{shared.instance}#{shared.workflow.id}"


class FakeValues:
    """Keeps values in a dict."""

    def __init__(self, memory: Memory) -> None:
        self._memory = memory

    def put(self, scope: Scope, key: str, data: bytes) -> None:
        with self._memory.lock:
            self._memory.of(scope).values[key] = data

    def get(self, scope: Scope, key: str) -> bytes:
        with self._memory.lock:
            found = self._memory.of(scope).values.get(key)
        if found is None:
            raise NotFound(f"there is no value {key}")
        return found


class FakeMachines:
    """Remembers definitions by name."""

    def __init__(self) -> None:
        self.definitions: dict[str, str] = {}

    def create(self, scope: Scope, name: str, definition: str) -> str:
        if self.definitions.setdefault(name, definition) != definition:
            raise Conflict(f"state machine '{name}' exists with another definition")
        return f"arn:aws:states:eu-central-1:123456789012:stateMachine:{name}"

    def delete(self, scope: Scope, machine: str) -> None:
        name = machine.rsplit(":", 1)[-1]
        if not name.startswith(f"{scope.mandate}-"):
            raise NotFound(f"there is no state machine '{name}'")
        self.definitions.pop(name, None)
