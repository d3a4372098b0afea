"""What a workflow is besides its versions: its settings, whether it is active, and whose it is."""

from __future__ import annotations

from collections.abc import Callable
from typing import Annotated

from pydantic import BaseModel, ConfigDict, Field

from stellwerk.kernel.errors import BadInput, Conflict
from stellwerk.kernel.ids import UserId, WorkflowId
from stellwerk.kernel.json import JsonObject
from stellwerk.tenancy.access import Verb
from stellwerk.tenancy.scope import Scope, require, require_operation
from stellwerk.workflows.model import MOST_TAGS, Concurrency, Retention, Workflow
from stellwerk.workflows.press import WORKFLOWS, Room, check_seen
from stellwerk.workflows.resources import USER, KnownResources

SHARE = "share"
_PERSON = "user:"

Title = Annotated[str, Field(min_length=1, max_length=200)]
Tag = Annotated[str, Field(min_length=1, max_length=40)]
Addressee = Annotated[str, Field(min_length=1, max_length=254)]


class Changes(BaseModel):
    """New values of a workflow's settings; what is not given stays as it is."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    title: Title | None = None
    tags: tuple[Tag, ...] | None = Field(default=None, max_length=MOST_TAGS)
    vars: JsonObject | None = None
    concurrency: Concurrency | None = None
    notify: tuple[Addressee, ...] | None = Field(default=None, max_length=20)
    retention: Retention | None = None

    def on(self, workflow: Workflow) -> Workflow:
        """Return the workflow with these settings."""
        given = {name: getattr(self, name) for name in self.model_fields_set}
        changes = {name: value for name, value in given.items() if value is not None}
        if self.tags is not None:
            changes["tags"] = tuple(dict.fromkeys(self.tags))
        return workflow.model_copy(update=changes)


class Settings(Room):
    """What the workflow's owner decides. `revision` is the one that the caller had seen, if any."""

    def update(
        self, scope: Scope, workflow: WorkflowId, revision: int | None, changes: Changes
    ) -> Workflow:
        """Change settings.

        Raises Stale where the workflow is stored at another revision, BadInput where someone is to
        be told of failures who does not belong here.
        """

        def changed(before: Workflow) -> Workflow:
            for named in set(changes.notify or ()) - set(before.notify):
                if named.startswith(_PERSON):
                    self._check_user(scope, UserId(named.removeprefix(_PERSON)), "be told")
            return changes.on(before)

        return self._change(scope, workflow, "update", changed, revision=revision)

    def activate(self, scope: Scope, workflow: WorkflowId, revision: int | None = None) -> Workflow:
        """Let its triggers start runs."""
        return self._change(scope, workflow, "activate", _with(active=True), revision=revision)

    def deactivate(
        self, scope: Scope, workflow: WorkflowId, revision: int | None = None
    ) -> Workflow:
        """Let its triggers start nothing any more; runs go on."""
        return self._change(scope, workflow, "deactivate", _with(active=False), revision=revision)

    def transfer(
        self, scope: Scope, workflow: WorkflowId, owner: UserId, revision: int | None = None
    ) -> Workflow:
        """Make someone of the instance the owner; raises BadInput where there is no such user."""

        def handed(before: Workflow) -> Workflow:
            self._check_user(scope, owner, "own the workflow")
            return before.model_copy(update={"created_by": owner})

        return self._change(scope, workflow, "transfer", handed, revision=revision)

    def share(self, scope: Scope, workflow: WorkflowId, revision: int | None = None) -> Workflow:
        """Let the mandate's other instances copy it."""
        return self._change(
            scope, workflow, SHARE, _with(shared=True), revision=revision, operation=SHARE
        )

    def unshare(self, scope: Scope, workflow: WorkflowId, revision: int | None = None) -> Workflow:
        """Let nobody copy it any more; copies stay."""
        return self._change(
            scope, workflow, "unshare", _with(shared=False), revision=revision, operation=SHARE
        )

    def _change(
        self,
        scope: Scope,
        workflow: WorkflowId,
        act: str,
        changed: Callable[[Workflow], Workflow],
        *,
        revision: int | None,
        operation: str = "",
    ) -> Workflow:
        before = self._workflow(scope, workflow)
        with self._audit.act(scope, f"workflow.{act}", f"workflow:{workflow}") as written:
            require(scope, WORKFLOWS, Verb.UPDATE, before.created_by)
            if operation:
                require_operation(scope, operation)
            check_seen(before, revision, f"Workflow '{before.slug}'")
            written.before(before)
            after = changed(before)
            if after == before:
                self._arm(scope, workflow)
                return before
            stored = self._write(scope, before, after)
            written.after(stored)
            self._arm(scope, workflow)
        return stored

    def _check_user(self, scope: Scope, user: UserId, purpose: str) -> None:
        known = KnownResources(self._versions, scope, things=self._press.things)
        if known.kind(USER, user) is None:
            raise BadInput(
                f"There is no user '{user}' who could {purpose} here.",
                remedy="Choose one who belongs to this instance.",
            )

    def _write(self, scope: Scope, before: Workflow, after: Workflow) -> Workflow:
        try:
            return self._versions.change(scope, before, after)
        except Conflict:
            now = self._versions.workflow(scope, before.id)
            check_seen(now, before.revision, f"Workflow '{now.slug}'")
            raise


def _with(**fields: bool) -> Callable[[Workflow], Workflow]:
    return lambda workflow: workflow.model_copy(update=fields)
