"""The structure that the compiler chooses for a shape, read from the definition."""

import dataclasses
import random
from types import SimpleNamespace
from typing import cast

import pytest

from stellwerk.catalogue.model import Kind
from stellwerk.kernel.errors import BadInput
from stellwerk.workflows.compile import CompileOptions, compile_graph
from stellwerk.workflows.compile.asl import definition
from stellwerk.workflows.compile.ir import State
from stellwerk.workflows.compile.scopes import Names, Scope
from tests.workflows.compile.drawing import (
    DECLARED,
    SmallCatalogue,
    compiled,
    draw,
    kinds,
    states,
)


def test_a_chain_needs_no_variable_and_no_choice() -> None:
    text = compiled(draw("t:start a b", "t>a a>b")).definition
    assert kinds(text) == {"Pass": 1, "Task": 3}
    assert states(text)["a · data.set"]["Next"] == "b · data.set"
    assert "Assign" not in states(text)["a · data.set"]


def test_exclusive_branches_meet_by_a_plain_goto() -> None:
    graph = draw("t:start i:if a b m", "t>i i.true>a i.false>b a>m b>m")
    found = states(compiled(graph).definition)
    assert found["a · data.set"]["Next"] == found["b · data.set"]["Next"] == "m · data.set"
    assert not [name for name in found if "alive" in name]
    assert kinds(compiled(graph).definition)["Choice"] == 1


def test_a_port_without_edges_ends_the_run_there() -> None:
    found = states(compiled(draw("t:start i:if a", "t>i i.true>a")).definition)
    rules = {rule["Condition"]: rule["Next"] for rule in found["i ? port"]["Choices"]}
    assert rules["{% $n_i = 'false' %}"] == ": end"


def test_parallel_edges_become_branches_and_the_join_follows_unguarded() -> None:
    found = states(compiled(draw("t:start a b m", "t>a t>b a>m b>m")).definition)
    assert len(found["a + b"]["Branches"]) == 2
    assert found["a + b"]["Next"] == "m · data.set"
    assert found["a + b"]["Catch"][0]["Next"] == "! scope closed"


def test_forks_of_a_scope_share_the_state_that_closes_it() -> None:
    graph = draw("t:start a b c d e m", "t>a t>b a>c b>c c>d c>e d>m e>m")
    found = states(compiled(graph).definition)
    assert found["a + b"]["Catch"] == found["d + e"]["Catch"]


def test_a_join_whose_branches_may_both_be_dead_asks_the_variables() -> None:
    graph = draw("t:start a:if b:if m", "t>a t>b a.true>m b.true>m")
    found = states(compiled(graph).definition)
    guard = found["m ? alive"]["Choices"][0]
    assert guard["Condition"] == "{% $u1_a = 'true' or $u1_b = 'true' %}"
    assert found["a + b"]["Assign"] == {
        "u1_a": "{% $states.result[0].a %}",
        "u1_b": "{% $states.result[1].b %}",
    }


def test_what_may_be_read_unassigned_is_null_first() -> None:
    graph = draw(
        "t:start i:if a:if b:if c m n",
        "t>i i.true>a i.true>b i.false>c a.true>m b.true>m m>n c>n a.false>n",
    )
    found = states(compiled(graph).definition)
    assert found[": start"]["Assign"]["u1_a"] is None


def test_a_join_that_would_wait_for_a_stranger_becomes_a_gate() -> None:
    graph = draw("t:start x y w:ask v", "t>x t>y x>w x>v y>v")
    result = compiled(graph)
    found = states(result.definition)
    assert result.gated == {"v"}
    assert result.watch == {"t": ("v",), "x": ("v",), "y": ("v",)}
    assert found["v : gate"]["Resource"].endswith(".waitForTaskToken")
    assert found["v ? opened"]["Choices"][0]["Next"] == "v · data.set"


def test_the_same_join_is_a_barrier_where_nobody_waits() -> None:
    result = compiled(draw("t:start x y w v", "t>x t>y x>w x>v y>v"))
    assert not result.gated
    assert not result.watch


def test_what_follows_a_gate_and_its_neighbours_is_shared() -> None:
    graph = draw("t:start x y w:ask v z", "t>x t>y x>w x>v y>v v>z w.approved>z")
    result = compiled(graph)
    assert result.gated == {"v"}
    assert states(result.definition)["x + y + v"]["Next"] == "z · data.set"


def test_exclusive_sources_share_a_branch_beside_a_concurrent_one() -> None:
    graph = draw(
        "t:start i:if c a b m",
        "t>i t>c i.true>a i.false>b a>m b>m c>m",
    )
    assert len(states(compiled(graph).definition)["c + i"]["Branches"]) == 2


def test_an_exclusive_wait_does_not_keep_a_stranger_waiting() -> None:
    graph = draw(
        "t:start f s:if w:ask b z",
        "t>f t>s s.true>w s.false>b f>z b>z",
    )
    result = compiled(graph)
    assert "z" in result.gated


def test_sources_of_which_one_would_keep_a_stranger_waiting_fork_alone() -> None:
    graph = draw(
        "t:start s:switch y a:ask b c z d",
        "t>s t>y s.p>a s.q>b s.q>c y>z b>z c>z a.approved>d z>d",
        s={"parameters": {"cases": ["p", "q"]}},
    )
    assert "z" in compiled(graph).gated


def test_several_triggers_are_a_switch_at_the_start() -> None:
    found = states(compiled(draw("t:start u:start a b m", "t>a u>b a>m b>m")).definition)
    assert len(found["? trigger"]["Choices"]) == 2
    assert found["? trigger"]["Default"] == "! unknown trigger"
    assert found["a · data.set"]["Next"] == "m · data.set"


@pytest.mark.parametrize("seed", range(5))
def test_order_of_nodes_and_edges_has_no_meaning(seed: int) -> None:
    graph = draw(
        "t:start x y w:ask v z l:each l/p l/q:if l/r",
        "t>x t>y x>w x>v y>v v>z w.approved>z z>l p>q q.true>r",
    )
    shuffle = random.Random(seed)
    nodes, edges = list(graph.nodes), list(graph.edges)
    shuffle.shuffle(nodes)
    shuffle.shuffle(edges)
    other = graph.model_copy(update={"nodes": tuple(nodes), "edges": tuple(edges)})
    assert compiled(other).definition == compiled(graph).definition
    assert compiled(other).graph_hash == compiled(graph).graph_hash


def test_names_are_cut_and_printable_and_titles_are_never_expressions() -> None:
    title = "{% $run %}\n" + "very long " * 20
    graph = draw("t:start a", "t>a", a={"title": title})
    found = states(compiled(graph).definition)
    (name,) = (name for name in found if name.startswith("a · "))
    assert len(name) <= 80
    assert name.isprintable()
    assert all(len(name) <= 80 for name in found)


def test_forks_within_forks_beyond_any_use_are_refused() -> None:
    nodes = "t:start " + " ".join(f"a{n} b{n} c{n}" for n in range(45))
    edges = "t>a0 t>b0 " + " ".join(f"a{n}>a{n + 1} a{n}>b{n + 1} a{n}>c{n + 1}" for n in range(44))
    with pytest.raises(BadInput, match="deep"):
        compiled(draw(nodes, edges))


def test_a_graph_that_was_not_validated_is_refused() -> None:
    with pytest.raises(BadInput, match=r"unknown type no\.such"):
        compiled(draw("t:start a:no.such", "t>a"))
    with pytest.raises(BadInput, match="cycle among a, b"):
        compiled(draw("t:start a b", "t>a a>b b>a"))


def test_a_kind_that_the_compiler_does_not_know_is_an_error() -> None:
    strange = dataclasses.replace(DECLARED["data.set"], type="odd.one", kind=cast(Kind, "odd"))
    graph = draw("t:start a:odd.one", "t>a")
    with pytest.raises(AssertionError):
        compile_graph(graph, SmallCatalogue(strange), CompileOptions())


def test_a_state_that_the_writer_does_not_know_is_an_error() -> None:
    scope = Scope(None, Names(), certain=frozenset())
    scope.start = "a"
    scope.add(cast(State, SimpleNamespace(name="a")))
    with pytest.raises(AssertionError):
        definition(scope, prefix="p", comment="")


def test_alternatives_share_a_branch_beside_what_runs_anyway() -> None:
    graph = draw("t:start s:if a b c", "t>s s.true>a s.true>c s.false>b s.false>c")
    branch = states(compiled(graph).definition)["a + c"]["Branches"][0]
    assert {"a ? alive", "a · data.set", "b · data.set"} <= set(branch["States"])


def test_alternatives_that_keep_strangers_waiting_run_side_by_side() -> None:
    graph = draw(
        "t:start f s:if w:ask b:ask y z",
        "t>f f>s f>y f>z s.true>w s.false>b b.approved>y w.approved>z",
    )
    result = compiled(graph)
    assert not result.gated
    first, second = states(result.definition)["b + w"]["Branches"]
    assert "y · data.set" in first["States"]
    assert "z · data.set" in second["States"]


def test_a_gate_that_stays_shut_passes_over_what_only_it_leads_to() -> None:
    graph = draw(
        "t:start f:if x:if y:if w:ask v q r",
        "t>f f.true>x f.true>y f.false>q x.true>w x.true>v y.true>v v>r v>q",
    )
    found = states(compiled(graph).definition)
    assert found["v ? opened"]["Default"] == "q ? alive"
    assert found["q ? alive"]["Choices"][0]["Condition"] == "{% $n_f = 'false' or $n_v = 'out' %}"


def test_choices_of_a_scope_share_the_state_for_a_port_that_is_none() -> None:
    found = states(compiled(draw("t:start i:if k:if a", "t>i i.true>k k.true>a")).definition)
    assert found["i ? port"]["Default"] == found["k ? port"]["Default"] == "! unknown port"
