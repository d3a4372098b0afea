"""The product's services as its API offers them: records are read back from what it shows.

What the API keeps to itself (tokens, revisions) is stood in for: a task's token by a mark that it
waits, a revision by a sum over what is shown, which changes when that does.
"""

from __future__ import annotations

import json
import secrets
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import NoReturn, TypeVar
from zlib import crc32

from localcloud.cli.remote import Api
from stellwerk.catalogue.store import StoredCatalogue
from stellwerk.kernel.errors import BadInput, NotFound
from stellwerk.kernel.ids import NodeKey, RunId, TaskId, WorkflowId
from stellwerk.kernel.json import JsonObject, JsonValue, dumps
from stellwerk.kernel.pages import Page
from stellwerk.kernel.records import Stored, ValueRef
from stellwerk.runs.model import HumanTask, Run, RunStatus, Step, TaskStatus
from stellwerk.tenancy.audit import Verification
from stellwerk.tenancy.scope import Scope
from stellwerk.tenancy.verification import AuditFault, FaultKind
from stellwerk.workflows.graph import Graph, graph_hash
from stellwerk.workflows.model import Version, Workflow

FRESH = 0.4
"""Seconds for which what was read of a run is not read again."""
R = TypeVar("R")


class RemoteRuns:
    """Runs of an instance."""

    def __init__(self, api: Api, place: str) -> None:
        self._api = api
        self._place = place
        self._recent: dict[str, tuple[float, JsonObject]] = {}
        self._values: dict[str, JsonObject] = {}

    def start(
        self,
        scope: Scope,
        workflow: WorkflowId | str,
        *,
        trigger: NodeKey | None = None,
        payload: JsonValue = None,
        delivery: str | None = None,
    ) -> Run:
        """Start a run."""
        body: JsonObject = {"trigger": trigger, "input": payload, "delivery": delivery}
        path = f"{self._place}/workflows/{workflow}/runs"
        key = secrets.token_urlsafe(16)
        return _run(scope, self._api.post(path, body, key=key).object)

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
        return _page(found, lambda shown: _run(scope, shown))

    def get(self, scope: Scope, run: RunId) -> Run:
        """Return a run."""
        return _run(scope, self._read(f"{self._place}/runs/{run}"))

    def steps(self, scope: Scope, run: RunId) -> Sequence[Step]:
        """Return its journal."""
        shown = self._read(f"{self._place}/runs/{run}/steps")["items"]
        return [_step(run, _object(each)) for each in _items(shown)]

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

    def writes_again(
        self,
        scope: Scope,
        run: RunId,
        *,
        from_node: NodeKey | None = None,
        assume_done: Mapping[str, JsonValue] | None = None,
        repeat: frozenset[str] = frozenset(),
    ) -> NoReturn:
        """Refuse: an API replays or does not, and tells nothing beforehand."""
        raise _no_replay()

    def replay(
        self,
        scope: Scope,
        run: RunId,
        *,
        from_node: NodeKey | None = None,
        assume_done: Mapping[str, JsonValue] | None = None,
        repeat: frozenset[str] = frozenset(),
    ) -> NoReturn:
        """Refuse, as `writes_again` does."""
        raise _no_replay()

    def _read(self, path: str) -> JsonObject:
        read, found = self._recent.get(path, (0.0, {}))
        if time.monotonic() - read > FRESH:
            found = self._api.get(path).object
            self._recent[path] = (time.monotonic(), found)
        return found


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
        return _page(self._api.get(f"{self._place}/tasks", wanted).object, _task)

    def get(self, scope: Scope, task: TaskId) -> HumanTask:
        """Return a task."""
        return _task(self._api.get(f"{self._place}/tasks/{task}").object)

    def decide(self, scope: Scope, task: TaskId, port: str, data: JsonValue = None) -> HumanTask:
        """Decide a task."""
        body: JsonObject = {"port": port, "data": data}
        return _task(self._api.post(f"{self._place}/tasks/{task}/decide", body).object)


class RemoteWorkflows:
    """Workflows of an instance."""

    def __init__(self, api: Api, place: str) -> None:
        self._api = api
        self._place = place

    def find(self, scope: Scope, name: str) -> Workflow:
        """Return a workflow by slug or id."""
        return _workflow(self._api.get(f"{self._place}/workflows/{name}").object)

    def publish(
        self, scope: Scope, graph: Graph, *, slug: str = "", title: str = ""
    ) -> tuple[Workflow, Version]:
        """Publish a graph as a new version, or as the first one of a new workflow."""
        content = _object(graph.model_dump(mode="json", by_alias=True, exclude_none=True))
        try:
            known = self.find(scope, slug)
        except NotFound:
            body: JsonObject = {"title": title or graph.title, "slug": slug, "graph": content}
            begun = self._api.post(f"{self._place}/workflows", body).object
            return self._published(_workflow(_object(begun["workflow"])), _object(begun["draft"]))
        if known.published is not None:
            present = self._api.get(self._path(known, f"versions/{known.published}")).object
            if present["graph_hash"] == graph_hash(graph):
                return known, _version(present)
        draft = self._api.post(self._path(known, "drafts"), {}).object
        path = self._path(known, f"drafts/{draft['number']}")
        saved = self._api.put(path, content, match=str(draft["etag"])).object
        return self._published(known, _object(saved["version"]))

    def _published(self, workflow: Workflow, draft: JsonObject) -> tuple[Workflow, Version]:
        path = self._path(workflow, f"versions/{draft['number']}/publish")
        version = _version(self._api.post(path, {}, match=str(draft["etag"])).object)
        return workflow.model_copy(update={"published": version.number}), version

    def _path(self, workflow: Workflow, below: str) -> str:
        return f"{self._place}/workflows/{workflow.id}/{below}"


class RemoteDesk:
    """All of it, in one instance; types are those that this command knows."""

    def __init__(self, api: Api, mandate: str, instance: str) -> None:
        place = f"/mandates/{mandate}/instances/{instance}"
        self.runs = RemoteRuns(api, place)
        self.tasks = RemoteTasks(api, place)
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
        faults = [_object(each) for each in _items(found["faults"])]
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


def _page(shown: JsonObject, read: Callable[[JsonObject], R]) -> Page[R]:
    cursor = shown.get("cursor")
    items = [read(_object(each)) for each in _items(shown["items"])]
    return Page(items, str(cursor) if cursor else None)


def _run(scope: Scope, shown: JsonObject) -> Run:
    parent = shown.get("parent")
    values = {
        name: {"text": dumps(shown[name])}
        for name in ("input", "output")
        if shown.get(name) is not None
    }
    known = {name: shown[name] for name in shown if name in Run.model_fields}
    return Run.model_validate(
        {
            **known,
            **{name: values.get(name) for name in ("input", "output")},
            "mandate": scope.mandate,
            "instance": scope.instance,
            "parent": {**parent, "depth": 1} if isinstance(parent, dict) else None,
        }
    )


def _step(run: RunId, shown: JsonObject) -> Step:
    state = crc32(dumps(shown).encode())
    step = f"runs/{run}/steps/{shown['step']}"
    parts = {
        part: Stored(ref=ValueRef(key=f"{step}#{part}", size=0, sha256=str(state)))
        for part in ("input", "value")
        if shown["attempts"]
    }
    known = {name: shown[name] for name in shown if name in Step.model_fields}
    token = "hidden" if shown["status"] == "waiting" else None
    return Step.model_validate({**known, **parts, "run": run, "token": token, "revision": state})


def _task(shown: JsonObject) -> HumanTask:
    return HumanTask.model_validate(
        {name: shown[name] for name in shown if name in HumanTask.model_fields}
    )


def _workflow(shown: JsonObject) -> Workflow:
    known = {name: shown[name] for name in shown if name in Workflow.model_fields}
    return Workflow.model_validate({**known, "created_by": shown["owner"]})


def _version(shown: JsonObject) -> Version:
    """Return a version without its graph, and without the machines that the API does not show."""
    known = {name: shown[name] for name in shown if name in Version.model_fields}
    return Version.model_validate({**known, "graph": Stored()})


def _object(value: object) -> JsonObject:
    if not isinstance(value, dict):
        raise BadInput("the API does not answer as this command expects: are their versions equal?")
    return value


def _items(value: JsonValue) -> Sequence[JsonValue]:
    return value if isinstance(value, list) else []


def _no_replay() -> BadInput:
    return BadInput(
        "This command replays runs of the local cloud only.",
        remedy="Use the API's POST .../runs/RUN/replay.",
    )
