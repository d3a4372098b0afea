"""Workflows, versions, values and state machines in memory."""

from __future__ import annotations

from collections.abc import Sequence

from stellwerk.kernel.errors import Conflict, NotFound
from stellwerk.kernel.ids import WorkflowId
from stellwerk.kernel.pages import Page
from stellwerk.tenancy.scope import Scope
from stellwerk.workflows.model import Version, VersionStatus, Workflow
from tests.fakes.memory import Memory, paged, replaced


class FakeVersions:
    """Keeps workflows and versions in dicts."""

    def __init__(self, memory: Memory) -> None:
        self._memory = memory

    def create(self, scope: Scope, workflow: Workflow) -> Workflow:
        with self._memory.lock:
            if self.find(scope, workflow.slug) is not None:
                raise Conflict(f"a workflow called '{workflow.slug}' exists already")
            return self._write(scope, workflow)

    def workflow(self, scope: Scope, workflow: WorkflowId) -> Workflow:
        with self._memory.lock:
            found = self._memory.of(scope).workflows.get(workflow)
        if found is None:
            raise NotFound(f"there is no workflow {workflow}")
        return found

    def find(self, scope: Scope, slug: str) -> Workflow | None:
        return next((found for found in self._workflows(scope) if found.slug == slug), None)

    def workflows(
        self, scope: Scope, *, cursor: str | None = None, limit: int = 50
    ) -> Page[Workflow]:
        found = self._workflows(scope)
        return paged(found, lambda item: item.slug, cursor=cursor, limit=limit, newest_first=False)

    def add(self, scope: Scope, workflow: Workflow, version: Version) -> tuple[Workflow, Version]:
        with self._memory.lock:
            self._check(scope, workflow, [version])
            named = workflow.model_copy(update={"latest": version.number})
            return self._write(scope, named), self._write_version(scope, version)

    def get(self, scope: Scope, workflow: WorkflowId, number: int) -> Version:
        with self._memory.lock:
            found = self._memory.of(scope).versions.get((workflow, number))
        if found is None:
            raise NotFound(f"workflow {workflow} has no version {number}")
        return found

    def versions(self, scope: Scope, workflow: WorkflowId) -> Sequence[Version]:
        with self._memory.lock:
            stored = self._memory.of(scope).versions.values()
            found = [version for version in stored if version.workflow == workflow]
        return sorted(found, key=lambda version: -version.number)

    def publish(
        self, scope: Scope, workflow: Workflow, version: Version, before: Version | None
    ) -> Workflow:
        with self._memory.lock:
            self._check(scope, workflow, [version, *([before] if before else [])])
            published = {"status": VersionStatus.PUBLISHED}
            self._write_version(scope, version.model_copy(update=published))
            if before is not None:
                archived = {"status": VersionStatus.ARCHIVED}
                self._write_version(scope, before.model_copy(update=archived))
            named = workflow.model_copy(update={"published": version.number})
            return self._write(scope, named)

    def _check(self, scope: Scope, workflow: Workflow, versions: Sequence[Version]) -> None:
        tenant = self._memory.of(scope)
        replaced(tenant.workflows.get(workflow.id), workflow)
        for version in versions:
            replaced(tenant.versions.get((version.workflow, version.number)), version)

    def _write(self, scope: Scope, workflow: Workflow) -> Workflow:
        workflows = self._memory.of(scope).workflows
        workflows[workflow.id] = replaced(workflows.get(workflow.id), workflow)
        return workflows[workflow.id]

    def _write_version(self, scope: Scope, version: Version) -> Version:
        versions = self._memory.of(scope).versions
        key = (version.workflow, version.number)
        versions[key] = replaced(versions.get(key), version)
        return versions[key]

    def _workflows(self, scope: Scope) -> list[Workflow]:
        with self._memory.lock:
            found = list(self._memory.of(scope).workflows.values())
        return sorted(found, key=lambda workflow: workflow.slug)


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
