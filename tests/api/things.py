"""Requests that succeed, for operations that need something to be there first."""

from __future__ import annotations

import itertools
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta

from fastapi.testclient import TestClient

from stellwerk.kernel.json import JsonObject, JsonValue
from tests.api.world import BROKEN, DEMO, GRAPH, STRAIGHT, World
from tests.fakes.consent import consented
from tests.fakes.graph import REDIRECT

MANDATE = "/api/v1/mandates/m-demo"
ANY: Mapping[str, str] = {"If-Match": "*"}
LATER = (datetime.now(UTC) + timedelta(days=9)).isoformat()


@dataclass(frozen=True)
class Good:
    """What makes a request succeed: ids for its path, and if need be a body."""

    path: Mapping[str, str | int] = field(default_factory=dict)
    body: JsonValue = None


class Things:
    """Makes what operations need, anew each time."""

    def __init__(self, world: World) -> None:
        self._anna: TestClient = world.someone("u-demo", **ANY)
        self._numbers = itertools.count()
        self._makers = self._all()

    def good(self, operation: str) -> Good | None:
        """Return what makes the operation succeed; None: nothing needs to be there."""
        maker = self._makers.get(operation)
        return maker() if maker else None

    def _post(self, path: str, body: object = None) -> JsonObject:
        answer = self._anna.post(path, json=body)
        assert answer.is_success, f"{path}: {answer.text}"
        made: JsonObject = answer.json()
        return made

    def _workflow(self, graph: JsonValue = None) -> str:
        body = {"title": f"Thing {next(self._numbers)}", "graph": graph or STRAIGHT}
        begun = self._post(f"{DEMO}/workflows", body)["workflow"]
        assert isinstance(begun, dict)
        return str(begun["id"])

    def _published(self, graph: JsonValue = None) -> str:
        workflow = self._workflow(graph)
        self._post(f"{DEMO}/workflows/{workflow}/versions/1/publish", {})
        return workflow

    def _archived(self) -> str:
        workflow = self._published()
        saved = self._anna.put(f"{DEMO}/workflows/{workflow}/drafts/1", json=GRAPH)
        number = saved.json()["version"]["number"]
        self._post(f"{DEMO}/workflows/{workflow}/versions/{number}/publish", {})
        return workflow

    def _run(self, graph: JsonValue = None) -> str:
        workflow = self._published(graph)
        run = self._post(f"{DEMO}/workflows/{workflow}/runs", {"input": {"amount": 1}})
        return str(run["id"])

    def _rested(self, graph: JsonValue, status: str) -> str:
        return self._until(self._run(graph), status)

    def _until(self, run: str, status: str) -> str:
        for _ in range(200):
            if self._anna.get(f"{DEMO}/runs/{run}").json()["status"] == status:
                return run
            time.sleep(0.05)
        raise AssertionError(f"run {run} does not become {status}")

    def task(self, graph: JsonValue = None) -> str:
        """Return a task of a run that waits."""
        run = self._rested(graph or GRAPH, "paused")
        tasks = self._anna.get(f"{DEMO}/tasks", params={"all": True}).json()["items"]
        return next(str(task["id"]) for task in tasks if task["run"] == run)

    def _member(self) -> str:
        address = f"thing-{next(self._numbers)}@muster.example"
        return str(self._post(f"{MANDATE}/members", {"who": address, "name": "T"})["user"])

    def _guest(self) -> str:
        user = self._member()
        self._post(f"{DEMO}/members", {"who": user})
        return user

    def _deputy(self) -> str:
        user = self._member()
        self._post(f"{MANDATE}/me/deputies", {"deputy": user, "until": LATER})
        return user

    def _role(self, place: str) -> str:
        return str(self._post(f"{place}/roles", {"label": f"thing {next(self._numbers)}"})["id"])

    def _client(self) -> str:
        return str(self._post(f"{MANDATE}/clients", {"name": "thing"})["id"])

    def _file(self) -> str:
        answer = self._anna.post(f"{DEMO}/files", files={"file": ("a.txt", b"a", "text/plain")})
        return str(answer.json()["id"])

    def _connection(self, kind: str = "webhook") -> str:
        secret: JsonObject = {"url": "http://127.0.0.1:1/"} if kind == "webhook" else {}
        body: JsonObject = {"kind": kind, "label": "Thing", "secret": secret}
        return str(self._post(f"{DEMO}/connections", body)["id"])

    def _consent(self) -> JsonObject:
        connection = self._connection("microsoft")
        asked = self._post(f"{DEMO}/connections/{connection}/authorise", {"redirect": REDIRECT})
        state, code = consented(str(asked["url"]))
        return {"state": state, "code": code}

    def _instance(self) -> str:
        body = {"feature": "graphicalEditor", "label": "Thing"}
        return str(self._post(f"{MANDATE}/instances", body)["id"])

    def _shared(self) -> str:
        workflow = self._workflow()
        self._post(f"{DEMO}/workflows/{workflow}/share")
        return workflow

    def _hook(self) -> dict[str, str | int]:
        hooked: JsonObject = {
            "title": "Hooked",
            "nodes": [
                {"key": "order", "type": "trigger.webhook"},
                {"key": "a", "type": "flow.stop"},
            ],
            "edges": [{"from": "order", "to": "a"}],
        }
        return {"workflow": self._published(hooked), "node": "order"}

    def _all(self) -> dict[str, Callable[[], Good]]:
        return {
            **self._administration(),
            **self._of_workflows(),
            **self._of_versions(),
            **self._of_runs(),
            **dict.fromkeys(("listHooks", "rotateHook"), lambda: Good(self._hook())),
            "setHookSecret": lambda: Good(self._hook(), {"secret": "a long secret"}),
            **self._of_connections(),
        }

    def _of_connections(self) -> dict[str, Callable[[], Good]]:
        def kept(body: JsonValue = None) -> Callable[[], Good]:
            return lambda: Good({"connection": self._connection()}, body)

        plain = ("getConnection", "deleteConnection", "revokeConnection", "testConnection")
        return {
            "createConnection": lambda: Good(
                {}, {"kind": "slack", "label": "Thing", "secret": {"bot_token": "t"}}
            ),
            **dict.fromkeys(plain, kept()),
            "updateConnection": kept({"label": "Post"}),
            "beginConsent": lambda: Good(
                {"connection": self._connection("microsoft")}, {"redirect": REDIRECT}
            ),
            "finishConsent": lambda: Good({}, self._consent()),
        }

    def _administration(self) -> dict[str, Callable[[], Good]]:
        def member(body: JsonValue = None) -> Callable[[], Good]:
            return lambda: Good({"user": self._member()}, body)

        def guest(body: JsonValue = None) -> Callable[[], Good]:
            return lambda: Good({"user": self._guest()}, body)

        def role(place: str, body: JsonValue = None) -> Callable[[], Good]:
            return lambda: Good({"role": self._role(place)}, body)

        client, instance = (
            lambda: Good({"client": self._client()}),
            lambda: Good({"instance": self._instance()}, {"label": "Renamed"}),
        )
        return {
            "createMandate": lambda: Good({}, {"label": "Thing AG", "admin": "u-demo"}),
            "updateMe": lambda: Good({}, {"language": "en"}),
            "updateMandate": lambda: Good({}, {"label": "Muster AG"}),
            "addMember": lambda: Good({}, {"who": f"n{next(self._numbers)}@muster.example"}),
            "addInstanceMember": lambda: Good({}, {"who": self._member()}),
            "getMember": member(),
            "nameDeputy": lambda: Good({}, {"deputy": self._member(), "until": LATER}),
            "removeDeputy": lambda: Good({"user": self._deputy()}),
            "setMemberRoles": member({"roles": []}),
            "removeMember": member(),
            "getInstanceMember": guest(),
            "setInstanceMemberRoles": guest({"roles": []}),
            "removeInstanceMember": guest(),
            **dict.fromkeys(("getRole", "deleteRole", "getRoleRules"), role(MANDATE)),
            "updateRole": role(MANDATE, {"description": "new"}),
            "setRoleRules": role(MANDATE, {"rules": []}),
            **dict.fromkeys(("getInstanceRole", "deleteInstanceRole"), role(DEMO)),
            "updateInstanceRole": role(DEMO, {"description": "new"}),
            **dict.fromkeys(("rotateClientSecret", "revokeClient"), client),
            **dict.fromkeys(("updateInstance", "syncUiObjects"), instance),
            **dict.fromkeys(
                ("getFile", "deleteFile", "downloadFile"), lambda: Good({"file": self._file()})
            ),
        }

    def _of_workflows(self) -> dict[str, Callable[[], Good]]:
        plain = (
            *("getWorkflow", "activateWorkflow", "deactivateWorkflow", "shareWorkflow"),
            *(
                "getWorkflowStats",
                "unshareWorkflow",
                "exportWorkflow",
                "listDrafts",
                "listVersions",
            ),
        )
        return {
            **dict.fromkeys(plain, lambda: Good({"workflow": self._workflow()})),
            "getWorkflowSchedules": lambda: Good({"workflow": self._workflow()}),
            "updateWorkflow": lambda: Good({"workflow": self._workflow()}, {"tags": ["a"]}),
            "transferWorkflow": lambda: Good(
                {"workflow": self._workflow()}, {"owner": "u-demo-user"}
            ),
            "copySharedWorkflow": lambda: Good(
                {"workflow": self._shared()}, {"instance": "i-demo"}
            ),
            "startRun": lambda: Good({"workflow": self._published()}, {"input": 1}),
        }

    def _of_versions(self) -> dict[str, Callable[[], Good]]:
        def at(make: Callable[[], str], body: JsonValue = None) -> Callable[[], Good]:
            return lambda: Good({"workflow": make(), "number": 1, "other": 1}, body)

        read = ("getDraft", "getVersion", "getVersionGraph", "compareVersions")
        return {
            **dict.fromkeys(read, at(self._workflow)),
            "createDraft": at(self._workflow, {}),
            "saveDraft": at(self._workflow, GRAPH),
            "publishVersion": at(self._workflow, {"note": "good"}),
            **dict.fromkeys(("unpublishVersion", "archiveVersion"), at(self._published)),
            **dict.fromkeys(("republishVersion", "rollBackVersion"), at(self._archived)),
        }

    def _broken(self) -> str:
        """Return a workflow with a failed run."""
        workflow = self._published(BROKEN)
        run = self._post(f"{DEMO}/workflows/{workflow}/runs", {"input": {"amount": 1}})
        self._until(str(run["id"]), "failed")
        return workflow

    def _replay(self) -> str:
        """Return a replay that is under way: its only run waits for a person."""
        workflow = self._broken()
        saved = self._anna.put(f"{DEMO}/workflows/{workflow}/drafts/1", json=GRAPH)
        number = saved.json()["version"]["number"]
        self._post(f"{DEMO}/workflows/{workflow}/versions/{number}/publish", {})
        return str(self._post(f"{DEMO}/workflows/{workflow}/replays", {})["id"])

    def _compared(self) -> Good:
        run = self._rested(STRAIGHT, "completed")
        return Good({"run": run, "other": run})

    def _of_runs(self) -> dict[str, Callable[[], Good]]:
        def task(body: JsonValue = None) -> Callable[[], Good]:
            return lambda: Good({"task": self.task()}, body)

        def ended(body: JsonValue = None) -> Callable[[], Good]:
            return lambda: Good({"run": self._rested(STRAIGHT, "completed"), "step": "note"}, body)

        return {
            **dict.fromkeys(("getRun", "listSteps", "getStepValues", "watchRun"), ended()),
            "replayRun": ended({"from_node": "note", "confirm_writes": True}),
            "compareRuns": self._compared,
            "startReplays": lambda: Good({"workflow": self._broken()}, {}),
            **dict.fromkeys(
                ("getReplays", "cancelReplays"), lambda: Good({"replay": self._replay()})
            ),
            "cancelRun": lambda: Good({"run": self._rested(GRAPH, "paused")}),
            **dict.fromkeys(("getTask", "cancelTask"), task()),
            "decideTask": task({"port": "approved"}),
            "delegateTask": task({"to": "u-demo-user"}),
        }
