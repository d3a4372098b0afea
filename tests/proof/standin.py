"""Stand-ins for the Lambdas: they answer as the contract says and keep a journal in a dictionary.

So the compiler alone is compared with the reference, fast. They also notice what no journal shows:
a node that is called twice, too early, or although it is dead.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import NoReturn

from stellwerk.catalogue.model import Catalogue, Kind, NodeType
from stellwerk.kernel.ids import NodeKey, Path
from stellwerk.kernel.json import JsonObject, JsonValue
from stellwerk.tenancy.scope import seeded
from stellwerk.workflows.graph import ERROR_PORT, Edge, Graph, Node, OnError, enclosing, inside
from tests.proof.outcome import Behaviour, Failed, Place, Ran
from tests.proof.scheduler import StateFailed
from tests.proof.world import World

SKIPPED = "(skipped)"
YEAR = 31_536_000


class Defect(Exception):
    """The machine did what no right machine does."""


@dataclass
class StandIn:
    """The Lambdas and the journal of one run."""

    graph: Graph
    catalogue: Catalogue
    behaviour: Behaviour
    trigger: NodeKey
    payload: JsonValue
    watch: Mapping[NodeKey, Sequence[NodeKey]]
    chunk_machines: Mapping[NodeKey, str] = field(default_factory=dict)
    ran: dict[Place, Ran] = field(default_factory=dict)
    failed: dict[Place, Failed] = field(default_factory=dict)
    pending: dict[Place, str] = field(default_factory=dict)
    sizes: dict[Place, int] = field(default_factory=dict)
    given: dict[Path, JsonValue] = field(default_factory=dict)
    lost: set[Path] = field(default_factory=set)
    stopped: list[JsonValue] = field(default_factory=list)
    calls: Counter[str] = field(default_factory=Counter)
    spans: dict[Path, tuple[int, int]] = field(default_factory=dict)
    """By pass of a loop, the numbers of the first and the last call inside."""
    gates: dict[Place, str] = field(default_factory=dict)
    chunks: dict[str, tuple[str, bool]] = field(default_factory=dict)
    executions: list[tuple[Path, str]] = field(default_factory=list)
    """Those of chunks, with the path of their loop."""
    next_pass: dict[Place, tuple[int, bool]] = field(default_factory=dict)

    def attach(self, world: World) -> None:
        """Set the world that is to call this."""
        self.world = world

    def __call__(self, function: str, payload: JsonObject) -> JsonValue:
        """Answer a call of a Lambda."""
        name = function.removeprefix("stellwerk-")
        if name == "system-run_finished":
            return self._ended(payload)
        place = Path(str(payload.get("path", ""))), NodeKey(str(payload.get("node", "")))
        match name:
            case "system-gate":
                return self._gate(place, payload)
            case "system-node_failed":
                return self._handled(place, payload)
            case "system-scope_closed":
                self._closed(place, payload)
                return {}
            case "system-chunk_finished":
                return self._answer_chunk(place, payload)
        return self._node(place, name, payload)

    def decide(self) -> bool:
        """Let a person decide one open task; False if there is none."""
        if not self.pending:
            return False
        place = self.world.random.choice(sorted(self.pending))
        return self.world.succeed(seeded(), self.pending.pop(place), {})

    def overlaps(self) -> list[str]:
        """Return the loops that had more items at work at once than their concurrency allows."""
        found = []
        for (path, key), size in self.sizes.items():
            spans = [self.spans.get(inside(path, key, n), (-1, -1)) for n in range(size)]
            most = max(
                (sum(a <= at <= b for a, b in spans) for at, _ in spans if at >= 0), default=0
            )
            allowed = _number(self.graph.by_key[key].parameters.get("concurrency", 1))
            if most > allowed:
                found.append(f"{path}.{key} had {most} items at work, {allowed} are allowed")
        return found

    # Nodes

    def _node(self, place: Place, function: str, payload: JsonObject) -> JsonValue:
        node, kind = self.graph.by_key[place[1]], self._type(place[1])
        phase = str(payload.get("phase", ""))
        if kind.function != function:
            raise Defect(f"{place} called as {function}")
        self._note(place, phase, str(payload.get("index", payload.get("chunk", ""))))
        if node.disabled:
            return self._fire(place, kind.ports_for(node.parameters)[0], self._input(place))
        match phase:
            case "open":
                return self._open(place, node, kind.kind, payload)
            case "wait":
                self.pending[place] = str(payload["token"])
                return None
            case "close":
                return self._close(place, kind.kind)
            case "":
                return self._work(place, kind.kind)
        return self._loop(place, phase, kind.kind, payload)

    def _note(self, place: Place, phase: str, index: str) -> None:
        number = self.calls.total()
        self.calls["notes"] += 1
        for _, _, path in enclosing(place[0]):
            self.spans[path] = (self.spans.get(path, (number, 0))[0], number)
        if phase != "resume":
            self._once(f"{place} {phase} {index}")

    def _loop(self, place: Place, phase: str, kind: Kind, payload: JsonObject) -> JsonValue:
        match phase:
            case "chunk":
                return self._chunk(place, kind, payload)
            case "check":
                return self._check(place, _number(payload["index"]))
            case "resume":
                return {"port": "again" if self.next_pass[place][1] else "out"}
        raise Defect(f"{place} called for {phase!r}")

    def _work(self, place: Place, kind: Kind) -> JsonValue:
        given = self._input(place)
        if kind is Kind.TRIGGER:
            return self._fire(place, "out", given)
        result = self.behaviour(place[1], place[0], given, 0)
        if isinstance(result, Failed):
            self._fail(place, result)
        port, value = result
        if kind is Kind.STOP:
            self.stopped.append(value)
        return self._fire(place, port, value)

    def _open(self, place: Place, node: Node, kind: Kind, payload: JsonObject) -> JsonValue:
        given = self._input(place)
        if kind is Kind.DELAY:
            return {"until": "2026-12-01T00:00:05.000Z"}
        if kind is Kind.WAIT:
            return {"seconds": YEAR}
        result = self.behaviour(place[1], place[0], given, 0)
        if isinstance(result, Failed):
            self._fail(place, result)
        items = result[1]
        assert isinstance(items, list)
        if len(items) > _number(node.parameters.get("max_items", 1000)):
            self._fail(place, Failed("LoopLimitExceeded"))
        self.sizes[place] = len(items)
        for index, item in enumerate(items):
            self.given[inside(place[0], place[1], index)] = item
        size = _number(payload.get("chunk_size", 1))
        return {"size": len(items), "chunks": -(-len(items) // size)}

    def _close(self, place: Place, kind: Kind) -> JsonValue:
        if kind is not Kind.FOR_EACH:
            result = self.behaviour(place[1], place[0], self._input(place), 0)
            assert not isinstance(result, Failed)
            return self._fire(place, *result)
        values: list[JsonValue] = []
        errors: list[JsonValue] = []
        for index in range(self.sizes[place]):
            path = inside(place[0], place[1], index)
            values.append(None if path in self.lost else self._ends(place[1], path))
            errors.append(self._report(path) if path in self.lost else None)
        return self._fire(place, "out", {"items": values, "errors": errors})

    def _check(self, place: Place, index: int) -> JsonValue:
        value = self._input(place) if index == 0 else self._before(place, index)
        result = self.behaviour(place[1], place[0], value, index)
        if isinstance(result, Failed):
            self._fail(place, result)
        self.next_pass[place] = (index, result[0] == "again")
        if result[0] == "out":
            return self._fire(place, "out", {"value": value, "passes": index})
        if index >= _number(self.graph.by_key[place[1]].parameters.get("max_passes", 100)):
            self._fail(place, Failed("LoopLimitExceeded"))
        path = inside(place[0], place[1], index)
        self.given[path] = value
        return {"port": "again", "path": path}

    def _before(self, place: Place, index: int) -> JsonValue:
        return self._ends(place[1], inside(place[0], place[1], index - 1))

    # Chunks

    def _chunk(self, place: Place, kind: Kind, payload: JsonObject) -> JsonValue:
        number, size = _number(payload["chunk"]), _number(payload["chunk_size"])
        first = number * size
        items = self.sizes[place] if kind is Kind.FOR_EACH else first + size
        last = min(first + size, items)
        data: JsonObject = {"path": place[0], "node": place[1], "chunk": number}
        data |= {"run": payload["run"], "from": first, "to": last}
        name = f"{place[0]}.{place[1]}-{number}"
        self.chunks[name] = (str(payload["token"]), False)
        machine = self.chunk_machines[place[1]]
        self.executions.append((place[0], self.world.start(seeded(), machine, name, data)))
        return None

    def _answer_chunk(self, place: Place, payload: JsonObject) -> JsonValue:
        name = f"{place[0]}.{place[1]}-{payload['chunk']}"
        token, _ = self.chunks[name]
        self.chunks[name] = (token, True)
        self.world.succeed(seeded(), token, {})
        return {}

    def _ended(self, event: JsonObject) -> JsonValue:
        detail = event["detail"]
        assert isinstance(detail, dict)
        token, answered = self.chunks.get(str(detail["name"]), ("", True))
        if detail["status"] == "FAILED" and not answered:
            error, cause = str(detail["error"]), str(detail["cause"])

            def answer() -> JsonValue:
                raise StateFailed(error, cause)

            self.world.tokens.answer(token, answer)
        return {}

    # Failures

    def _fail(self, place: Place, failed: Failed) -> NoReturn:
        self.failed[place] = failed
        raise StateFailed(failed.type, json.dumps([*place, failed.message]))

    def _handled(self, place: Place, payload: JsonObject) -> JsonValue:
        self._once(f"{place} handled")
        node, error = self.graph.by_key[place[1]], payload["error"]
        assert isinstance(error, dict)
        first = self._type(place[1]).ports_for(node.parameters)[0]
        port = ERROR_PORT if node.on_error is OnError.BRANCH else first
        self.failed.setdefault(place, Failed(str(error["Error"])))
        return self._fire(place, port, _value(error))

    def _closed(self, place: Place, payload: JsonObject) -> None:
        error, path = payload["error"], place[0]
        assert isinstance(error, dict)
        if place[1]:
            self.lost.add(path)
            self.given[Path(f"{path}!")] = _value(error)
        loop = str(payload.get("loop", ""))
        start = f"{path}.{loop}[" if path and loop else f"{loop}[" if loop else path
        for other in list(self.pending):
            if other[0].startswith(start):
                del self.pending[other]
        for within, arn in self.executions:
            if within.startswith(start):
                self.world.stop(seeded(), arn, cause="closed")

    def _report(self, path: Path) -> JsonValue:
        return self.given[Path(f"{path}!")]

    # The journal

    def _type(self, key: NodeKey) -> NodeType:
        found = self.catalogue.find(self.graph.by_key[key].type)
        assert found is not None
        return found

    def _once(self, call: str) -> None:
        self.calls[call] += 1
        if self.calls[call] > 1:
            raise Defect(f"called twice: {call}")

    def _fire(self, place: Place, port: str, value: JsonValue) -> JsonValue:
        if place in self.ran:
            raise Defect(f"fired twice: {place}")
        self.ran[place] = Ran(self._input(place), port, value)
        for gate in self.watch.get(place[1], ()):
            self._open_gate((place[0], gate))
        return {"port": port}

    def _input(self, place: Place) -> JsonValue:
        edges = self.graph.incoming[place[1]]
        parent = self.graph.by_key[place[1]].parent
        if not edges and parent is not None:
            if place[0] not in self.given:
                raise Defect(f"{place} is called in a pass that there is not")
            return self.given[place[0]]
        if place[1] == self.trigger:
            return self.payload
        fired = {edge: self._fired(place[0], edge) for edge in edges}
        if None in fired.values():
            raise Defect(f"{place} is called before it is due")
        live = sorted({edge.source for edge, port in fired.items() if port == edge.port})
        values = {key: self.ran[place[0], key].value for key in live}
        if not live:
            raise Defect(f"{place} is called although it is dead")
        return values[live[0]] if len(live) == 1 else {str(key): values[key] for key in live}

    def _fired(self, path: Path, edge: Edge) -> str | None:
        """Return what an edge's source has fired; a disabled one never fires but its first port."""
        source = self.graph.by_key[edge.source]
        if source.disabled and edge.port != self._type(source.key).ports_for(source.parameters)[0]:
            return SKIPPED
        return self._port(path, edge.source)

    def _port(self, path: Path, key: NodeKey) -> str | None:
        """Return the port that a node has fired, SKIPPED, or None while that is undecided."""
        if (path, key) in self.ran:
            return self.ran[path, key].port
        edges = self.graph.incoming[key]
        if not edges:
            return None if key == self.trigger or self.graph.by_key[key].parent else SKIPPED
        fired = [(edge.port, self._fired(path, edge)) for edge in edges]
        if any(port is None or port == wanted for wanted, port in fired):
            return None
        return SKIPPED

    def _ends(self, loop: NodeKey, path: Path) -> JsonValue:
        values = self.ends(loop, path)
        return next(iter(values.values()), None) if len(values) < 2 else {**values}

    def ends(self, loop: NodeKey | None, path: Path) -> JsonObject:
        """Return the values of the live end nodes of a level."""
        found: JsonObject = {}
        for node in self.graph.children[loop]:
            ports = {edge.port for edge in self.graph.outgoing[node.key]}
            ran = self.ran.get((path, node.key))
            if ran is not None and ports <= {ERROR_PORT} and ran.port not in ports:
                found[node.key] = ran.value
        return found

    # Gates

    def _gate(self, place: Place, payload: JsonObject) -> JsonValue:
        if "token" not in payload:
            return {"port": self._verdict(place)}
        self._once(f"{place} gate")
        self.gates[place] = str(payload["token"])
        self._open_gate(place)
        return None

    def _open_gate(self, place: Place) -> None:
        if place in self.gates and self._verdict(place) is not None:
            self.world.succeed(seeded(), self.gates[place], {})

    def _verdict(self, place: Place) -> str | None:
        fired = [(e.port, self._fired(place[0], e)) for e in self.graph.incoming[place[1]]]
        if any(port is None for _, port in fired):
            return None
        return "live" if any(port == wanted for wanted, port in fired) else "dead"


def _number(value: JsonValue) -> int:
    assert isinstance(value, int)
    return value


def _value(error: JsonObject) -> JsonValue:
    """Return what `on_error` hands on."""
    cause = json.loads(str(error["Cause"]) or "[]")
    node, message = (cause[1], cause[2]) if len(cause) == 3 else ("", "")
    return {"error": {"type": str(error["Error"]), "message": message, "node": node}}
