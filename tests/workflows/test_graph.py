"""The graph as such: its lookups, its hash, and the paths of loops."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from stellwerk.kernel.ids import ROOT, NodeKey, Path
from stellwerk.workflows.graph import Graph, enclosing, graph_hash, inside
from tests.workflows.graphs import edge, graph, node, start

BUILT = graph(
    [
        start(),
        node("l", "flow.for_each"),
        node("m", "flow.while", parent="l"),
        node("a", parent="m"),
    ],
    "start -> l",
)


def test_lookups_know_every_node() -> None:
    assert BUILT.incoming[NodeKey("l")] == (edge("start -> l"),)
    assert BUILT.outgoing[NodeKey("a")] == ()
    assert [each.key for each in BUILT.children[None]] == ["l", "start"]
    assert BUILT.loops_around(NodeKey("a")) == ("l", "m")


def test_of_nodes_that_share_a_key_the_first_counts() -> None:
    first, second = node("a", title="1"), node("a", title="2")
    assert graph([first, second]).by_key == {"a": first}


def test_the_hash_is_that_of_the_meaning() -> None:
    moved = [
        each.model_copy(update={"title": "other", "notes": "n", "position": {"x": 9, "y": 9}})
        for each in reversed(BUILT.nodes)
    ]
    same = Graph(title="other", nodes=tuple(moved), edges=(*BUILT.edges, *BUILT.edges))
    assert graph_hash(same) == graph_hash(BUILT)
    other = [*BUILT.nodes[:-1], node("a", "data.set", {"x": 1}, parent="m")]
    assert graph_hash(graph(other, "start -> l")) != graph_hash(BUILT)


def test_the_root_is_inside_of_no_loop() -> None:
    assert list(enclosing(ROOT)) == []


@given(
    st.lists(
        st.tuples(st.from_regex(r"[a-z][a-z0-9_]{0,9}", fullmatch=True), st.integers(0, 10**6))
    )
)
def test_a_path_tells_the_loops_that_it_was_made_of(loops: list[tuple[str, int]]) -> None:
    path, paths = ROOT, []
    for key, index in loops:
        path = inside(Path(path), NodeKey(key), index)
        paths.append(path)
    assert list(enclosing(path)) == [
        (key, index, prefix) for (key, index), prefix in zip(loops, paths, strict=True)
    ]
