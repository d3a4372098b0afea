"""What workflows need from the world. Errors as in `runs.ports`."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from stellwerk.kernel.ids import WorkflowId
from stellwerk.kernel.pages import Page
from stellwerk.tenancy.scope import Scope
from stellwerk.workflows.model import Version, Workflow


class Versions(Protocol):
    """Workflows and their versions."""

    def create(self, scope: Scope, workflow: Workflow) -> Workflow:
        """Write a new workflow."""

    def workflow(self, scope: Scope, workflow: WorkflowId) -> Workflow:
        """Return the workflow."""

    def find(self, scope: Scope, slug: str) -> Workflow | None:
        """Return the workflow with that slug."""

    def workflows(
        self, scope: Scope, *, cursor: str | None = None, limit: int = 50
    ) -> Page[Workflow]:
        """Return a page of workflows, by slug."""

    def add(self, scope: Scope, workflow: Workflow, version: Version) -> tuple[Workflow, Version]:
        """Write a new version and the workflow that names it as latest, under both revisions."""

    def get(self, scope: Scope, workflow: WorkflowId, number: int) -> Version:
        """Return the version."""

    def versions(self, scope: Scope, workflow: WorkflowId) -> Sequence[Version]:
        """Return all versions of a workflow, the newest first."""

    def publish(
        self, scope: Scope, workflow: Workflow, version: Version, before: Version | None
    ) -> Workflow:
        """Write `version` as published, `before` as archived, and the workflow that names it."""


class Values(Protocol):
    """Values that are too large for a row; in S3 under the mandate and run."""

    def put(self, scope: Scope, key: str, data: bytes) -> None:
        """Keep `data` under `key`; writing equal data again changes nothing."""

    def get(self, scope: Scope, key: str) -> bytes:
        """Return what was kept under `key`."""


class Machines(Protocol):
    """State machines."""

    def create(self, scope: Scope, name: str, definition: str) -> str:
        """Create a state machine and return its ARN.

        The same name with the same definition is the same machine.
        """


class Resources(Protocol):
    """What parameters may name, as far as whoever asks may use it: workflows, connections, ..."""

    def kind(self, wanted: str, name: str) -> str | None:
        """Return the kind of what `name`, an id or slug, stands for; None if there is nothing.

        `wanted` is the kind that the parameter needs, and is returned where it fits.
        """
