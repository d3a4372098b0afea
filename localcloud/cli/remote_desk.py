"""The product's services as its API offers them."""

from __future__ import annotations

import json
import secrets
import time
from collections.abc import Iterator, Mapping, Sequence

from localcloud.cli.remote import Api
from localcloud.cli.remote_connections import RemoteAccounts
from localcloud.cli.remote_records import (
    compared_of,
    items_of,
    object_of,
    page_of,
    run_of,
    step_of,
)
from localcloud.cli.remote_replays import RemoteRerunning
from localcloud.cli.remote_tasks import RemoteDeputies, RemoteTasks
from localcloud.cli.remote_watching import RemoteWatching
from localcloud.cli.remote_workflows import RemoteWorkflows
from stellwerk.catalogue.store import StoredCatalogue
from stellwerk.kernel.errors import Conflict
from stellwerk.kernel.ids import NodeKey, RunId, WorkflowId
from stellwerk.kernel.json import JsonObject, JsonValue
from stellwerk.kernel.pages import Page
from stellwerk.kernel.records import Stored
from stellwerk.runs.comparing import Compared
from stellwerk.runs.model import Mode, Run, RunStatus, Step, StepKey
from stellwerk.runs.partial import Partial
from stellwerk.tenancy.audit import Verification
from stellwerk.tenancy.scope import Scope
from stellwerk.tenancy.verification import AuditFault, FaultKind

FRESH = 0.4
"""Seconds for which what was read of a run is not read again."""


class RemoteRuns:
    """Runs of an instance."""

    def __init__(self, api: Api, place: str) -> None:
        self._api = api
        self._place = place
        self._recent: dict[str, tuple[float, JsonObject]] = {}
        self._values: dict[str, JsonObject] = {}
        self._replays: dict[RunId, Run] = {}
        """Of runs that were replayed when it was asked what that would write."""

    def start(
        self,
        scope: Scope,
        workflow: WorkflowId | str,
        *,
        trigger: NodeKey | None = None,
        payload: JsonValue = None,
        delivery: str | None = None,
        mode: Mode = "live",
        pinned: Mapping[NodeKey, JsonValue] | None = None,
        partial: Partial | None = None,
    ) -> Run:
        """Start a run."""
        body: JsonObject = {"trigger": trigger, "input": payload, "delivery": delivery}
        body["mode"] = mode
        body["pinned"] = {str(node): value for node, value in (pinned or {}).items()}
        if partial is not None:
            body["only_node" if partial.alone else "from_node"] = partial.node
            body["pinned_from"] = partial.source
        path = f"{self._place}/workflows/{workflow}/runs"
        key = secrets.token_urlsafe(16)
        return run_of(scope, self._api.post(path, body, key=key).object)

    def list(
        self,
        scope: Scope,
        *,
        workflow: WorkflowId | None = None,
        status: RunStatus | None = None,
        cursor: str | None = None,
        limit: int = 50,
    ) -> Page[Run]:
        """Return a page of runs."""
        asked = {"workflow": workflow, "status": status, "cursor": cursor, "limit": limit}
        found = self._api.get(f"{self._place}/runs", asked).object
        return page_of(found, lambda shown: run_of(scope, shown))

    def get(self, scope: Scope, run: RunId) -> Run:
        """Return a run."""
        return run_of(scope, self._read(f"{self._place}/runs/{run}"))

    def steps(self, scope: Scope, run: RunId) -> Sequence[Step]:
        """Return its journal."""
        page = self.page(scope, run)
        steps = [*page.items]
        while page.cursor is not None:
            page = self.page(scope, run, cursor=page.cursor)
            steps += page.items
        return steps

    def page(self, scope: Scope, run: RunId, *, cursor: str | None = None) -> Page[Step]:
        """Return a page of its journal."""
        path = f"{self._place}/runs/{run}/steps"
        shown = self._api.get(path, {"cursor": cursor}).object if cursor else self._read(path)
        return page_of(shown, lambda each: step_of(run, each))

    def compare(self, scope: Scope, one: RunId, other: RunId) -> Sequence[Compared]:
        """Return two runs beside each other."""
        shown = self._api.get(f"{self._place}/runs/{one}/compare/{other}").object
        return [compared_of(object_of(each)) for each in items_of(shown["items"])]

    def value(self, scope: Scope, stored: Stored) -> JsonValue:
        """Return a value; those of a step are fetched together, once for each of its states."""
        if stored.ref is None:
            value: JsonValue = json.loads(stored.text or "null")
            return value
        step, _, part = stored.ref.key.rpartition("#")
        known = f"{step}#{stored.ref.sha256}"
        if known not in self._values:
            self._values[known] = self._api.get(f"{self._place}/{step}/values").object
        return self._values[known][part]

    def cancel(self, scope: Scope, run: RunId) -> Run:
        """Stop a run."""
        return run_of(scope, self._api.post(f"{self._place}/runs/{run}/cancel").object)

    def writes_again(
        self,
        scope: Scope,
        run: RunId,
        *,
        from_node: NodeKey | None = None,
        assume_done: Mapping[str, JsonValue] | None = None,
        repeat: frozenset[str] = frozenset(),
    ) -> Sequence[StepKey]:
        """Return nothing: an API replays at once, and raises Conflict if that would write again.

        Its replay is what `replay` then returns.
        """
        wish = _wish(from_node, assume_done, repeat)
        try:
            self._replays[run] = self._replayed(scope, run, wish)
        except Conflict as refused:
            if "confirm_writes" not in refused.remedy:
                raise
            remedy = "Replay with --yes if that is meant, or with --assume-done STEP=JSON."
            raise Conflict(refused.message, remedy=remedy) from refused
        return ()

    def replay(
        self,
        scope: Scope,
        run: RunId,
        *,
        from_node: NodeKey | None = None,
        assume_done: Mapping[str, JsonValue] | None = None,
        repeat: frozenset[str] = frozenset(),
    ) -> Run:
        """Run again what is not recorded; writes that happen again are meant to."""
        if run in self._replays:
            return self._replays.pop(run)
        wish = _wish(from_node, assume_done, repeat)
        return self._replayed(scope, run, {**wish, "confirm_writes": True})

    def _replayed(self, scope: Scope, run: RunId, wish: JsonObject) -> Run:
        path, key = f"{self._place}/runs/{run}/replay", secrets.token_urlsafe(16)
        return run_of(scope, self._api.post(path, wish, key=key).object)

    def _read(self, path: str) -> JsonObject:
        read, found = self._recent.get(path, (0.0, {}))
        if time.monotonic() - read > FRESH:
            found = self._api.get(path).object
            self._recent[path] = (time.monotonic(), found)
        return found


class RemoteHooks:
    """Addresses of triggers."""

    def __init__(self, api: Api, place: str) -> None:
        self._api = api
        self._place = place

    def list(self, workflow: str) -> Sequence[JsonObject]:
        """Return the hooks of a workflow."""
        found = self._api.get(f"{self._place}/workflows/{workflow}/hooks").object
        return [object_of(each) for each in items_of(found["items"])]

    def rotate(self, workflow: str, node: str) -> JsonObject:
        """Give a node another address."""
        path = f"{self._place}/workflows/{workflow}/hooks/{node}/rotate"
        return self._api.post(path).object

    def set_secret(self, workflow: str, node: str, secret: str) -> None:
        """Set what callers of a node prove themselves with."""
        path = f"{self._place}/workflows/{workflow}/hooks/{node}/secret"
        self._api.put(path, {"secret": secret})


class RemoteClocks:
    """Schedules of an instance."""

    def __init__(self, api: Api, place: str) -> None:
        self._api = api
        self._place = place

    def of_workflow(self, workflow: str) -> JsonObject:
        """Return those of a workflow, with its last times."""
        return self._api.get(f"{self._place}/workflows/{workflow}/schedules").object

    def of_instance(self, cursor: str | None, limit: int) -> JsonObject:
        """Return a page of all, with the last times that were late or missed."""
        asked = {"cursor": cursor, "limit": limit}
        return self._api.get(f"{self._place}/schedules", asked).object

    def reconcile(self) -> JsonObject:
        """Let the API compare them with the Scheduler."""
        return self._api.post(f"{self._place}/schedules/reconcile").object


class RemoteDesk:
    """All of it, in one instance; types are those that this command knows."""

    def __init__(self, api: Api, mandate: str, instance: str) -> None:
        place = f"/mandates/{mandate}/instances/{instance}"
        self.runs = RemoteRuns(api, place)
        self.tasks = RemoteTasks(api, place)
        self.deputies = RemoteDeputies(api, f"/mandates/{mandate}")
        self.watching = RemoteWatching(api, place)
        self.hooks = RemoteHooks(api, place)
        self.connections = RemoteAccounts(api, place)
        self.schedules = RemoteClocks(api, place)
        self.rerunning = RemoteRerunning(api, place)
        self.workflows = RemoteWorkflows(api, place)
        self.catalogue = StoredCatalogue()


class RemoteAudit:
    """The audit of a mandate."""

    def __init__(self, api: Api, mandate: str) -> None:
        self._api = api
        self._place = f"/mandates/{mandate}/audit"

    def verify(self, scope: Scope, days: Sequence[str] | None = None) -> Verification:
        """Let the API look whether the chain is whole."""
        found = self._api.get(f"{self._place}/verify", {"day": days}).object
        faults = [object_of(each) for each in items_of(found["faults"])]
        return Verification(
            days=int(str(found["days"])),
            records=int(str(found["records"])),
            faults=[
                AuditFault(
                    day=str(fault["day"]),
                    place=str(fault["place"]),
                    kind=FaultKind(str(fault["kind"])),
                    message=str(fault["message"]),
                )
                for fault in faults
            ],
        )

    def export(self, scope: Scope, since: str = "", until: str = "") -> Iterator[str]:
        """Return the records as JSON Lines."""
        wanted = {"since": since or None, "until": until or None}
        yield from self._api.get(f"{self._place}/export", wanted).text.splitlines(keepends=True)


def _wish(
    from_node: NodeKey | None, assume_done: Mapping[str, JsonValue] | None, repeat: frozenset[str]
) -> JsonObject:
    return {
        "from_node": from_node,
        "assume_done": {**(assume_done or {})},
        "repeat": [*sorted(repeat)],
    }
