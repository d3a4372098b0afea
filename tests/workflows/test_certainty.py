"""What must have run when a node runs: held against all choices of ports, one by one."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import product

from hypothesis import given, settings
from hypothesis import strategies as st

from stellwerk.kernel.ids import NodeKey
from stellwerk.workflows.faults import Code
from stellwerk.workflows.graph import Graph
from stellwerk.workflows.validate.certainty import Certainty
from stellwerk.workflows.validate.subject import Subject
from tests.workflows.catalogue import FakeCatalogue
from tests.workflows.graphs import faults, graph, node, start

PORTS = {"flow.if": ("true", "false"), "data.set": ("out",), "trigger.manual": ("out",)}


@dataclass(frozen=True)
class Drawn:
    """A graph without cycles: kinds by position, edges from earlier to later ones."""

    graph: Graph

    def runs(self) -> list[frozenset[NodeKey]]:
        """Return which nodes run, for every trigger and every choice of ports."""
        return [run for run, _ in self.choices()]

    def choices(self) -> list[tuple[frozenset[NodeKey], dict[NodeKey, str]]]:
        """Return every run with the ports that it chose."""
        nodes = self.graph.nodes
        triggers = [each.key for each in nodes if each.type == "trigger.manual"]
        every = product(*(PORTS.get(each.type, ("out",)) for each in nodes))
        chosen = [dict(zip(self.graph.by_key, ports, strict=True)) for ports in every]
        return [(self._run(trigger, ports), ports) for ports in chosen for trigger in triggers]

    def _run(self, trigger: NodeKey, chosen: dict[NodeKey, str]) -> frozenset[NodeKey]:
        ran: set[NodeKey] = set()
        for each in self.graph.nodes:  # drawn in an order in which they can run
            incoming = self.graph.incoming[each.key]
            live = any(e.source in ran and chosen[e.source] == e.port for e in incoming)
            entry = not incoming and (
                each.key == trigger if each.parent is None else each.parent in ran
            )
            if live or entry:
                ran.add(each.key)
        return frozenset(ran)


@st.composite
def drawn(draw: st.DrawFn, *, last: str | None = None) -> Drawn:
    count = draw(st.integers(2, 7))
    triggers = draw(st.integers(1, 2))
    kinds = ["trigger.manual"] * triggers + [
        draw(st.sampled_from(["data.set", "flow.if"])) for _ in range(count)
    ]
    nodes = [node(f"n{i}", kind) for i, kind in enumerate(kinds)]
    edges = []
    for later in range(triggers, len(kinds)):
        for earlier in draw(st.sets(st.integers(0, later - 1), min_size=1, max_size=3)):
            port = draw(st.sampled_from(PORTS[kinds[earlier]]))
            edges.append(f"n{earlier}:{port} -> n{later}")
    if last is not None:
        for name in ("stop1", "stop2"):
            earlier = draw(st.integers(0, len(kinds) - 1))
            port = draw(st.sampled_from(PORTS[kinds[earlier]]))
            nodes.append(node(name, last))
            edges.append(f"n{earlier}:{port} -> {name}")
    return Drawn(graph(nodes, *edges))


@st.composite
def with_loop(draw: st.DrawFn) -> Drawn:
    """A small graph around a loop, and a small graph inside it."""
    outer = [start(), node("a", "flow.if"), node("b"), node("c"), node("l", "flow.for_each")]
    inner = [
        node(f"i{i}", draw(st.sampled_from(["data.set", "flow.if"])), parent="l") for i in range(4)
    ]
    edges = [
        "start -> a",
        "a:true -> b",
        f"{draw(st.sampled_from(['a:false', 'b', 'start']))} -> c",
    ]
    for source in draw(st.sets(st.sampled_from(["b", "c", "a:true", "start"]), min_size=1)):
        edges.append(f"{source} -> l")
    for later in range(1, 4):
        for earlier in draw(st.sets(st.integers(0, later - 1), max_size=2)):
            port = draw(st.sampled_from(PORTS[inner[earlier].type]))
            edges.append(f"i{earlier}:{port} -> i{later}")
    return Drawn(graph([*outer, *inner], *edges))


def check_against_all_runs(subject: Drawn) -> None:
    certainty = Certainty(Subject(subject.graph, FakeCatalogue()))
    runs = subject.runs()
    for later in subject.graph.by_key:
        those = [run for run in runs if later in run]
        assert (later in certainty.sure) == bool(those)
        for earlier in subject.graph.by_key if those else ():
            if certainty.comes_before(earlier, later):
                always = all(earlier in run for run in those)
                assert certainty.has_run(earlier, later) == always, (earlier, later)
                if not always:
                    check_example(certainty.example(earlier, later), earlier, later, subject)


def check_example(
    example: tuple[str, ...], earlier: NodeKey, later: NodeKey, subject: Drawn
) -> None:
    """Some run takes the ports of the example, and no such run reaches only the earlier node."""
    assert example
    taken = {NodeKey(key): port for key, port in (each.split(":") for each in example)}
    fitting = [run for run, ports in subject.choices() if fits(taken, run, ports)]
    assert any(later in run for run in fitting)
    assert all(earlier not in run for run in fitting if later in run)


def fits(taken: dict[NodeKey, str], run: frozenset[NodeKey], ports: dict[NodeKey, str]) -> bool:
    return all(key in run and ports[key] == port for key, port in taken.items())


@given(drawn())
@settings(max_examples=120, deadline=None, derandomize=True)
def test_certainty_is_exact(subject: Drawn) -> None:
    check_against_all_runs(subject)


@given(with_loop())
@settings(max_examples=120, deadline=None, derandomize=True)
def test_certainty_is_exact_inside_loops(subject: Drawn) -> None:
    check_against_all_runs(subject)


@given(drawn(last="flow.stop"))
@settings(max_examples=120, deadline=None, derandomize=True)
def test_two_stops_are_refused_exactly_if_one_run_can_reach_both(subject: Drawn) -> None:
    both = any({"stop1", "stop2"} <= run for run in subject.runs())
    found = {fault.code for fault in faults(subject.graph)}
    assert (Code.STOP_SUCCESS_TWICE in found) == both


def test_what_comes_before_goes_by_all_edges() -> None:
    built = graph(
        [start(), node("a"), node("l", "flow.for_each"), node("i", parent="l"), node("z")],
        "start -> a",
        "a -> l",
        "l -> z",
    )
    certainty = Certainty(Subject(built, FakeCatalogue()))
    i, a, z = NodeKey("i"), NodeKey("a"), NodeKey("z")
    assert certainty.comes_before(a, i)
    assert certainty.has_run(a, i)
    assert not certainty.comes_before(z, i)
    assert not certainty.comes_before(NodeKey("nowhere"), i)
