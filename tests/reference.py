"""The meaning of a graph, the ten rules of `workflow.md`; it shares nothing with the compiler."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from stellwerk.catalogue.model import Catalogue, Kind
from stellwerk.kernel.ids import ROOT, NodeKey, Path
from stellwerk.kernel.json import JsonValue
from stellwerk.workflows.graph import ERROR_PORT, Edge, Graph, Node, OnError, inside
from tests.proof.outcome import SEVERAL, Behaviour, Error, Failed, Fired, Outcome, Ran

Ends = dict[str, JsonValue]
Errors = list[Error]


@dataclass
class Reference:
    """Interprets one graph; `behaviour` stands in for the world."""

    graph: Graph
    catalogue: Catalogue
    behaviour: Behaviour

    def run(self, trigger: NodeKey, payload: JsonValue) -> Outcome:
        """Return what a run from `trigger` does."""
        self.outcome, self.stopped = Outcome(), False
        ends = self._scope(None, ROOT, payload, trigger)
        if isinstance(ends, list):
            self.outcome.completed, self.outcome.errors = False, ends
        elif not self.stopped:  # rule 10
            self.outcome.output = {**ends}
        return self.outcome

    def _scope(
        self, loop: NodeKey | None, path: Path, given: JsonValue, trigger: NodeKey | None = None
    ) -> Ends | Errors:
        """Run one body; return the values of its live end nodes, or the errors that can end it."""
        ports, values = dict[NodeKey, str | None](), Ends()
        errors: Errors = []
        before = set(self.outcome.certain)
        waiting = list(self.graph.children.get(loop, ()))
        leading = self.graph.incoming
        while due := [n for n in waiting if self._decided(leading[n.key], ports)]:
            for node in due:  # rule 3
                waiting.remove(node)
                edges = leading[node.key]
                live = sorted({e.source for e in edges if ports.get(e.source) == e.port})
                entry = node.key == trigger or (loop is not None and not edges)  # rules 1 and 6
                if not (live or entry):
                    ports[node.key] = None  # rule 2: skipped
                    continue
                result = self._node(node, path, given if entry else self._input(live, values))
                if isinstance(result, list):
                    errors += result  # its edges stay undecided for ever
                else:
                    ports[node.key], values[node.key] = result
        if errors:
            self.outcome.certain = before  # rule 8
            return errors
        return {key: values[key] for key in values if self._ends(NodeKey(key), ports[NodeKey(key)])}

    def _decided(self, edges: Sequence[Edge], ports: Mapping[NodeKey, str | None]) -> bool:
        """Whether all edges are known to be live or dead, as a disabled node's other ports are."""
        return all(e.source in ports or self._is_never_live(e) for e in edges)

    def _is_never_live(self, edge: Edge) -> bool:
        source = self.graph.by_key[edge.source]
        return source.disabled and edge.port != self._first_port(source)

    def _first_port(self, node: Node) -> str:
        kind = self.catalogue.find(node.type)
        assert kind is not None
        return next(iter(kind.ports_for(node.parameters)), "")

    def _ends(self, key: NodeKey, fired: str | None) -> bool:
        """Whether nothing but an error handler follows a node, and not even that now."""
        ports = {edge.port for edge in self.graph.outgoing[key]}
        return ports <= {ERROR_PORT} and fired not in ports

    def _input(self, live: list[NodeKey], values: Ends) -> JsonValue:
        return values[live[0]] if len(live) == 1 else {k: values[k] for k in live}  # rule 5

    def _node(self, node: Node, path: Path, given: JsonValue) -> Fired | Errors:
        """Run one node and note it; return what it fires, or the errors that leave it."""
        kind = self.catalogue.find(node.type)
        assert kind is not None
        first = self._first_port(node)
        result = (first, given) if node.disabled else self._work(kind.kind, node, path, given)
        if isinstance(result, list):
            self.outcome.failed.add((path, node.key))
            leaving = self._leaving(result, handled=node.on_error is not OnError.FAIL)
            if leaving:
                return leaving
            port = ERROR_PORT if node.on_error is OnError.BRANCH else first
            result = (port, self._report(result))  # rule 7
        self.outcome.ran[path, node.key] = Ran(given, *result)
        self.outcome.certain.add((path, node.key))
        return result

    def _leaving(self, errors: Errors, *, handled: bool) -> Errors:
        fatal = [error for error in errors if error.fatal]  # rule 9
        self.outcome.ambiguous |= handled and 0 < len(fatal) < len(errors)
        return fatal if handled else errors

    def _report(self, errors: Errors) -> JsonValue:
        first = errors[0]
        type_ = first.type if len({error.type for error in errors}) == 1 else SEVERAL
        return {"error": {"type": type_, "message": first.message, "node": first.place[1]}}

    def _work(self, kind: Kind, node: Node, path: Path, given: JsonValue) -> Fired | Errors:
        if kind in {Kind.TRIGGER, Kind.WHILE}:
            return ("out", given) if kind is Kind.TRIGGER else self._while(node, path, given)
        result = self.behaviour(node.key, path, given, 0)
        if isinstance(result, Failed):
            fatal = result.fatal or kind is Kind.STOP
            return [Error(result.type, result.message, fatal, (path, node.key))]
        if kind is Kind.FOR_EACH:
            return self._for_each(node, path, result[1])
        if kind is Kind.STOP:  # rule 9
            self.stopped, self.outcome.output = True, result[1]
        return result

    def _for_each(self, node: Node, path: Path, items: JsonValue) -> Fired | Errors:
        assert isinstance(items, list)
        if len(items) > int(str(node.parameters.get("max_items", 1000))):
            return [Error("LoopLimitExceeded", place=(path, node.key))]
        slots = width = int(str(node.parameters.get("concurrency", 1)))
        collect = node.parameters.get("on_item_error") == "collect"
        before = set(self.outcome.certain)
        values, reports = list[JsonValue](), list[JsonValue]()
        errors: Errors = []
        for index, item in enumerate(items):
            ends = self._scope(node.key, inside(path, node.key, index), item)
            values.append(None if isinstance(ends, list) else self._value(ends))
            reports.append(self._report(ends) if isinstance(ends, list) else None)
            leaving = self._leaving(ends, handled=collect) if isinstance(ends, list) else []
            errors += leaving
            slots -= bool(leaving)
            if not slots:  # what fails may do so late, and no later item starts before
                break
        if errors and width > 1:
            self.outcome.certain = before
        return errors or ("out", {"items": values, "errors": reports})

    def _while(self, node: Node, path: Path, given: JsonValue) -> Fired | Errors:
        value, passes, place = given, 0, (path, node.key)
        while True:
            check = self.behaviour(node.key, path, value, passes)
            if isinstance(check, Failed):
                return [Error(check.type, check.message, check.fatal, place)]
            if check[0] == "out":
                return "out", {"value": value, "passes": passes}
            if passes == int(str(node.parameters.get("max_passes", 100))):
                return [Error("LoopLimitExceeded", place=place)]
            ends = self._scope(node.key, inside(path, node.key, passes), value)
            if isinstance(ends, list):
                return ends
            value, passes = self._value(ends), passes + 1

    def _value(self, ends: Ends) -> JsonValue:
        return next(iter(ends.values()), None) if len(ends) < 2 else {**ends}
