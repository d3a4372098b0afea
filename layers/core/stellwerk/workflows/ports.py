"""What workflows need from the world. Errors as in `runs.ports`."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Protocol

from stellwerk.kernel.ids import InstanceId, UserId, WorkflowId
from stellwerk.kernel.pages import Page
from stellwerk.tenancy.scope import Scope
from stellwerk.workflows.faults import Fault
from stellwerk.workflows.graph import Graph
from stellwerk.workflows.model import Version, Workflow
from stellwerk.workflows.naming import words_of


@dataclass(frozen=True)
class Wanted:
    """Which workflows a list shows: all these hold together, and what is empty holds always.

    `words` begin words of title or slug, in small plain letters. `owner`, `tag` and the longest
    word choose where the list is read; the rest leaves entries out, so that a page may be short.
    """

    words: tuple[str, ...] = ()
    tag: str = ""
    active: bool | None = None
    owner: UserId | None = None

    def fits(self, workflow: Workflow) -> bool:
        """Say whether the workflow is one of these."""
        there = words_of(workflow.slug, workflow.title)
        return (
            self.owner in {None, workflow.created_by}
            and self.active in {None, workflow.active}
            and (not self.tag or self.tag in workflow.tags)
            and all(any(word.startswith(begun) for word in there) for begun in self.words)
        )


@dataclass(frozen=True)
class SharedWorkflow:
    """A workflow that the mandate's instances may copy, and where it is."""

    instance: InstanceId
    workflow: Workflow


class Triggers(Protocol):
    """What starts runs of workflows by itself."""

    def changed(self, scope: Scope, workflow: WorkflowId) -> None:
        """Let exactly those triggers fire that the stored workflow wants; may be repeated."""

    def faults(self, graph: Graph) -> Iterator[Fault]:
        """Yield what is wrong with parameters of triggers that fits their schemas."""


class Versions(Protocol):
    """Workflows and their versions. Each writing method is one transaction.

    A write replaces the revisions that its records carry, raises Conflict where other ones are
    stored, and returns the records one revision higher.
    """

    def create(self, scope: Scope, workflow: Workflow, *versions: Version) -> Workflow:
        """Write a new workflow with its first versions; Conflict where its slug is taken."""

    def workflow(self, scope: Scope, workflow: WorkflowId) -> Workflow:
        """Return the workflow."""

    def find(self, scope: Scope, slug: str) -> Workflow | None:
        """Return the workflow with that slug."""

    def workflows(
        self, scope: Scope, wanted: Wanted, *, cursor: str | None, limit: int
    ) -> Page[Workflow]:
        """Return a page of workflows, by slug; where words are wanted by the word found, then slug.

        A workflow of which several words begin as wanted may come once for each.
        """

    def shared(self, scope: Scope, *, cursor: str | None, limit: int) -> Page[SharedWorkflow]:
        """Return a page of what the mandate's instances share, by slug."""

    def change(self, scope: Scope, before: Workflow, after: Workflow) -> Workflow:
        """Write `after` in place of `before`, and where lists find it."""

    def add(self, scope: Scope, workflow: Workflow, version: Version) -> tuple[Workflow, Version]:
        """Write a new version and the workflow that names it as latest."""

    def save(self, scope: Scope, version: Version) -> Version:
        """Write a version alone."""

    def move(self, scope: Scope, workflow: Workflow, *versions: Version) -> Workflow:
        """Write a workflow and its versions that changed state with it."""

    def get(self, scope: Scope, workflow: WorkflowId, number: int, trial: str = "") -> Version:
        """Return the version, or the draft as it was for a trial."""

    def versions(
        self, scope: Scope, workflow: WorkflowId, *, cursor: str | None, limit: int
    ) -> Page[Version]:
        """Return a page of a workflow's versions, the newest first."""

    def published_as(self, scope: Scope, workflow: WorkflowId, graph_hash: str) -> int | None:
        """Return the number of the version that was published last with that graph."""

    def retiring(self, scope: Scope) -> Iterator[Version]:
        """Yield the versions whose machines are to go when no run needs them."""


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

    def delete(self, scope: Scope, machine: str) -> None:
        """Delete the state machine with that ARN, and with it its executions; nothing if gone."""


class Resources(Protocol):
    """What parameters may name, as far as whoever asks may use it: workflows, connections, ..."""

    def kind(self, wanted: str, name: str) -> str | None:
        """Return the kind of what `name`, an id or slug, stands for; None if there is nothing.

        `wanted` is the kind that the parameter needs, and is returned where it fits.
        """


class Things(Protocol):
    """All things of one kind that graphs may name: files, users, roles, ..."""

    def known(self, scope: Scope, name: str) -> bool:
        """Say whether there is such a thing for the scope, which is not another mandate's."""
