"""Human tasks at an API, and who stands in for whom there."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime

from localcloud.cli.remote import Api
from localcloud.cli.remote_records import items_of, object_of, page_of, task_of
from stellwerk.kernel.ids import TaskId, UserId
from stellwerk.kernel.json import JsonObject, JsonValue
from stellwerk.kernel.pages import Page
from stellwerk.runs.model import HumanTask, TaskStatus
from stellwerk.tenancy.deputies import Deputy
from stellwerk.tenancy.scope import Scope


class RemoteTasks:
    """Human tasks of an instance: those of whoever is signed in."""

    def __init__(self, api: Api, place: str) -> None:
        self._api = api
        self._place = place

    def list(
        self,
        scope: Scope,
        *,
        status: TaskStatus = TaskStatus.PENDING,
        cursor: str | None = None,
        limit: int = 50,
    ) -> Page[HumanTask]:
        """Return a page of tasks."""
        wanted = {"status": status, "cursor": cursor, "limit": limit}
        return page_of(self._api.get(f"{self._place}/tasks", wanted).object, task_of)

    def get(self, scope: Scope, task: TaskId) -> HumanTask:
        """Return a task."""
        return task_of(self._api.get(f"{self._place}/tasks/{task}").object)

    def decide(
        self, scope: Scope, task: TaskId, port: str, data: JsonValue = None, *, comment: str = ""
    ) -> HumanTask:
        """Decide a task."""
        body: JsonObject = {"port": port, "data": data, "comment": comment}
        return self._post(task, "decide", body)

    def delegate(self, scope: Scope, task: TaskId, to: UserId) -> HumanTask:
        """Hand a task on."""
        return self._post(task, "delegate", {"to": to})

    def cancel(self, scope: Scope, task: TaskId) -> HumanTask:
        """Cancel a task with its run."""
        return self._post(task, "cancel", None)

    def _post(self, task: TaskId, act: str, body: JsonValue) -> HumanTask:
        return task_of(self._api.post(f"{self._place}/tasks/{task}/{act}", body).object)


class RemoteDeputies:
    """Deputies of whoever is signed in, in a mandate."""

    def __init__(self, api: Api, mandate: str) -> None:
        self._api = api
        self._place = f"{mandate}/me/deputies"

    def list(self, scope: Scope) -> Sequence[Deputy]:
        """Return whom the user has named, and for whom it was named."""
        found = self._api.get(self._place).object
        return [_deputy(scope, object_of(each)) for each in items_of(found["items"])]

    def name(
        self, scope: Scope, deputy: UserId, *, until: datetime, since: datetime | None = None
    ) -> Deputy:
        """Let someone stand in."""
        body: JsonObject = {"deputy": deputy, "until": until.isoformat()}
        begin: JsonObject = {} if since is None else {"since": since.isoformat()}
        return _deputy(scope, self._api.post(self._place, body | begin).object)

    def remove(self, scope: Scope, deputy: UserId) -> None:
        """Let someone stand in no more."""
        self._api.delete(f"{self._place}/{deputy}")


def _deputy(scope: Scope, shown: JsonObject) -> Deputy:
    return Deputy.model_validate({**shown, "mandate": scope.mandate})
