"""What two graphs have otherwise."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from stellwerk.kernel.ids import NodeKey
from stellwerk.workflows.diff import Change, diff
from stellwerk.workflows.graph import Graph
from tests.workflows.graphs import edge, graph, node, start


def test_equal_graphs_have_no_difference_whatever_their_order() -> None:
    nodes = [start(), node("a", parameters={"x": 1}), node("b")]
    one = graph(nodes, "start -> a", "start -> b")
    other = graph(nodes[::-1], "start -> b", "start -> a")
    found = diff(one, other, before=1, after=2)
    assert found.same_meaning
    assert (found.before, found.after) == (1, 2)
    assert not (found.added or found.removed or found.changed)
    assert not (found.edges_added or found.edges_removed)


def test_nodes_and_edges_come_and_go() -> None:
    one = graph([start(), node("a"), node("gone")], "start -> a", "a -> gone")
    other = graph([start(), node("a"), node("new")], "start -> a", "a -> new", "start -> new")
    found = diff(one, other, before=1, after=2)
    assert [each.key for each in found.added] == ["new"]
    assert [each.key for each in found.removed] == ["gone"]
    assert found.edges_added == (edge("a -> new"), edge("start -> new"))
    assert found.edges_removed == (edge("a -> gone"),)
    assert not found.same_meaning


def test_changed_nodes_name_their_fields_and_parameters() -> None:
    one = graph([node("a", "http.request", {"url": "x", "old": [1], "same": 1}, title="A")])
    other = graph([node("a", "http.request", {"url": "y", "new": None, "same": 1}, timeout=9)])
    [change] = diff(one, other, before=1, after=2).changed
    assert change.key == "a"
    assert [each.name for each in change.fields] == ["timeout", "title"]
    assert change.parameters == (
        Change(name="new", in_before=False, in_after=True),
        Change(name="old", in_before=True, in_after=False, before=[1]),
        Change(name="url", in_before=True, in_after=True, before="x", after="y"),
    )


def test_a_moved_node_is_changed_without_another_meaning() -> None:
    one = graph([start(), node("a")], "start -> a")
    other = graph([start(), node("a", position={"x": 5, "y": 5})], "start -> a")
    found = diff(one, other, before=1, after=2)
    assert found.same_meaning
    assert [each.name for each in found.changed[0].fields] == ["position"]


def test_true_is_not_one() -> None:
    one, other = graph([node("a", parameters={"x": True})]), graph([node("a", parameters={"x": 1})])
    assert diff(one, other, before=1, after=2).changed


KEYS = st.sampled_from("abcd")
GRAPHS = st.builds(
    lambda nodes, ends: graph(
        [node(key, parameters={"x": value}) for key, value in nodes.items()],
        *(f"{source} -> {target}" for source, target in sorted(ends)),
    ),
    st.dictionaries(KEYS, st.integers(0, 2)),
    st.sets(st.tuples(KEYS, KEYS)),
)


@given(one=GRAPHS, other=GRAPHS)
def test_a_difference_leads_from_one_graph_to_the_other(one: Graph, other: Graph) -> None:
    found = diff(one, other, before=1, after=2)
    nodes = {**one.by_key}
    for gone in found.removed:
        del nodes[gone.key]
    nodes |= {each.key: each for each in found.added}
    for change in found.changed:
        parameters = dict(nodes[NodeKey(change.key)].parameters)
        for each in change.parameters:
            parameters[each.name] = each.after
        nodes[change.key] = nodes[change.key].model_copy(update={"parameters": parameters})
    assert nodes == other.by_key
    edges = (set(one.edges) - set(found.edges_removed)) | set(found.edges_added)
    assert edges == set(other.edges)
