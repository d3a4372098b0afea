"""The states of single steps and loops, and what they may spend."""

import itertools
import json

import pytest

from stellwerk.kernel.errors import BadInput
from stellwerk.kernel.ids import NodeKey
from stellwerk.kernel.json import JsonObject
from tests.workflows.compile.drawing import compiled, draw, kinds, states

HUNDREDS: JsonObject = {"parameters": {"max_passes": 700}}


def test_a_call_names_its_lambda_and_what_it_may_repeat() -> None:
    graph = draw("t:start a:call", "t>a", a={"timeout": 20, "retry": {"attempts": 4, "backoff": 3}})
    state = states(compiled(graph, prefix="acme").definition)["a · http.request"]
    assert state["Arguments"]["FunctionName"] == "acme-http-request"
    assert state["TimeoutSeconds"] == 35
    assert state["Retry"][1] == {
        "ErrorEquals": ["RateLimited"],
        "IntervalSeconds": 2,
        "MaxAttempts": 3,
        "BackoffRate": 3.0,
    }


def test_one_attempt_means_no_retry_but_after_faults_of_the_platform() -> None:
    graph = draw("t:start a:call", "t>a", a={"retry": {"attempts": 1}})
    assert len(states(compiled(graph).definition)["a · http.request"]["Retry"]) == 1


def test_a_caught_error_is_journaled_and_goes_on() -> None:
    graph = draw("t:start a b h", "t>a a>b a.error>h", a={"on_error": "branch"})
    found = states(compiled(graph).definition)
    assert found["a · data.set"]["Catch"] == [
        {
            "ErrorEquals": ["States.ALL"],
            "Output": {"node": "a", "error": "{% $states.errorOutput %}"},
            "Next": "! node failed",
        }
    ]
    assert found["! node failed"]["Next"] == "h · data.set"
    assert found["! node failed"]["Arguments"]["Payload"]["node"] == "{% $states.input.node %}"
    assert found["a · data.set"]["Next"] == "b · data.set"


def test_nodes_whose_errors_go_to_one_handler_share_the_state_that_journals_them() -> None:
    branch: JsonObject = {"on_error": "branch"}
    graph = draw("t:start a b h", "t>a a>b a.error>h b.error>h", a=branch, b=branch)
    text = compiled(graph).definition
    assert kinds(text) == {"Pass": 1, "Task": 5}
    assert states(text)["! node failed"]["Next"] == "h · data.set"


def test_a_choice_leads_failed_nodes_to_where_each_goes_on() -> None:
    on: JsonObject = {"on_error": "continue"}
    graph = draw("t:start a b c d", "t>a a>b b>c c>d", a=on, b=on, c={"on_error": "branch"})
    found = states(compiled(graph).definition)
    assert found["! node failed"]["Output"] == "{% $states.input.node %}"
    assert found["? node failed"] == {
        "Type": "Choice",
        "Choices": [
            {"Condition": "{% $states.input = 'b' %}", "Next": "c · data.set"},
            {"Condition": "{% $states.input = 'c' %}", "Next": ": end"},
        ],
        "Default": "b · data.set",
    }


def test_the_port_of_a_failed_node_is_kept_where_a_guard_asks_for_it() -> None:
    graph = draw("t:start a:if b:if m", "t>a t>b a.error>m b.true>m", a={"on_error": "branch"})
    found = states(compiled(graph).definition)
    assert found["a · flow.if"]["Catch"][0]["Assign"] == {"n_a": "error"}


def test_each_failure_that_is_handled_counts_in_the_budget() -> None:
    def events(*keys: str) -> int:
        branch: JsonObject = {"on_error": "branch"}
        edges = " ".join(["t>a a>b", *(f"{key}.error>h" for key in keys)])
        graph = draw("t:start a b h", edges, **dict.fromkeys(keys, branch))
        return compiled(graph).forecast.events

    assert events("a", "b") - events("a") == 5  # one more call of the state that both share


def test_failures_in_a_body_are_handled_in_the_body() -> None:
    branch: JsonObject = {"on_error": "branch"}
    graph = draw("t:start l:each l/a l/h m", "t>l a.error>h l>m", a=branch, l=branch)
    found = states(compiled(graph).definition)
    assert found["l ! node failed"]["Arguments"]["Payload"]["path"] == "{% $p_l %}"
    assert "path" not in found["! node failed"]["Arguments"]["Payload"]


def test_continue_goes_on_where_success_does() -> None:
    graph = draw("t:start a b", "t>a a>b", a={"on_error": "continue"})
    assert states(compiled(graph).definition)["! node failed"]["Next"] == "b · data.set"


def test_a_task_waits_for_its_token_and_reads_the_outcome() -> None:
    found = states(compiled(draw("t:start a:ask b", "t>a a.approved>b")).definition)
    assert found["a · input.approval"]["Next"] == "a : wait"
    assert found["a : wait"]["TimeoutSeconds"] == "{% $states.input %}"
    assert found["a : wait"]["Catch"][0] == {
        "ErrorEquals": ["States.Timeout"],
        "Next": "a : outcome",
    }
    assert found["a : outcome"]["Next"] == "a ? port"


def test_a_delay_waits_for_a_moment_that_was_journaled() -> None:
    found = states(compiled(draw("t:start a:wait", "t>a")).definition)
    assert found["a : wait"] == {
        "Type": "Wait",
        "Timestamp": "{% $states.input %}",
        "Next": "a : over",
    }


def test_a_stop_ends_its_token() -> None:
    graph = draw("t:start i:if a:stop b", "t>i i.true>a i.false>b")
    assert states(compiled(graph).definition)["a · flow.stop"]["End"] is True


def test_a_disabled_node_fires_its_first_port() -> None:
    graph = draw("t:start i:if a b", "t>i i.true>a i.false>b", i={"disabled": True})
    found = states(compiled(graph).definition)
    assert found["i · flow.if"]["Next"] == "a · data.set"


def test_a_disabled_loop_has_no_body() -> None:
    graph = draw("t:start l:each l/a m", "t>l l>m", l={"disabled": True})
    assert kinds(compiled(graph).definition) == {"Pass": 1, "Task": 3}


SMALL: JsonObject = {"parameters": {"max_items": 10, "concurrency": 3}}


def test_a_loop_is_a_map_over_numbers() -> None:
    graph = draw("t:start l:each l/a l/b m", "t>l a>b l>m", l=SMALL)
    found = states(compiled(graph).definition)
    assert found["l : items"]["MaxConcurrency"] == 3
    assert found["l : items"]["Items"] == "{% [0..$states.input - 1] %}"
    assert found["a · data.set"]["Arguments"]["Payload"]["path"] == "{% $p_l %}"
    assert found["l : collected"]["Next"] == "m · data.set"


def test_loops_in_loops_know_the_whole_path() -> None:
    graph = draw("t:start l:each l/k:each k/a", "t>l", l=SMALL, k=SMALL)
    text = compiled(graph).definition
    assert "{% $p_l & '.k[' & $states.input & ']' %}" in text


def test_a_collecting_loop_catches_each_item() -> None:
    graph = draw(
        "t:start l:each l/a", "t>l", l={"parameters": {"max_items": 5, "on_item_error": "collect"}}
    )
    found = states(compiled(graph).definition)
    assert found["l : item"]["Catch"][1]["Next"] == "l ! item failed"
    assert found["l ! item failed"]["Arguments"]["Payload"]["node"] == "l"


def test_a_loop_that_goes_on_after_an_error_closes_its_passes_first() -> None:
    for kind in ("each", "while"):
        graph = draw(
            f"t:start l:{kind} l/a h",
            "t>l l.error>h",
            l={"on_error": "branch", "parameters": {"max_items": 5}},
        )
        found = states(compiled(graph).definition)
        assert found["l ! closed"]["Arguments"]["Payload"]["loop"] == "l"
        assert found["l ! closed"]["Next"] == "! node failed"
        assert found["l ! closed"]["Output"] == "{% $states.input %}"


def test_a_while_is_a_cycle_that_resets_its_variables() -> None:
    graph = draw("t:start w:while w/a:if w/b:if w/m z", "t>w a.true>m b.true>m w>z")
    found = states(compiled(graph).definition)
    check = found["w · flow.while"]
    assert check["Assign"]["i_w"] == "{% $i_w + 1 %}"
    assert check["Assign"]["p_w"] == "{% 'w[' & $i_w & ']' %}"
    assert found["w ? again"]["Choices"][0]["Next"] == "a + b"
    assert found["w ? again"]["Default"] == "z · data.set"
    assert found["m · data.set"]["Next"] == "w · flow.while"


def test_a_while_in_a_while_counts_anew_in_each_pass() -> None:
    few: JsonObject = {"parameters": {"max_passes": 4}}
    graph = draw("t:start w:while w/v:while v/a", "t>w", w=few, v=few)
    assert states(compiled(graph).definition)["w · flow.while"]["Assign"]["i_v"] == "{% 0 %}"


def test_a_large_loop_runs_as_chunks_of_a_child_machine() -> None:
    graph = draw(
        "t:start l:each l/a l/k:each k/b m",
        "t>l l>m",
        l={"parameters": {"max_items": 100_000}},
        k=SMALL,
    )
    result = compiled(graph)
    found = states(result.definition)
    assert found["l : chunk"]["Resource"].endswith(".waitForTaskToken")
    assert list(result.children) == ["l"]
    child = states(result.children[NodeKey("l")])
    assert child["l · flow.for_each"]["Items"] == "{% [$from..$to - 1] %}"
    assert child["l : chunk finished"]["End"] is True
    assert result.forecast.events <= 20_000


def test_a_large_while_runs_as_chunks_of_a_child_machine() -> None:
    variants: tuple[JsonObject, ...] = ({}, {"on_error": "continue"})
    for more in variants:
        graph = draw(
            "t:start w:while w/a z", "t>w w>z", w={"parameters": {"max_passes": 50_000}, **more}
        )
        result = compiled(graph)
        found = states(result.definition)
        assert found["w : chunk over"]["Arguments"]["Payload"]["phase"] == "resume"
        child = states(result.children[NodeKey("w")])
        assert child["w ? chunk over"]["Choices"][0]["Condition"] == "{% $i_w >= $to %}"


def test_a_heavy_loop_in_a_loop_is_rolled_over_first() -> None:
    graph = draw("t:start l:each l/w:while w/a", "t>l", w={"parameters": {"max_passes": 5000}})
    assert set(compiled(graph).children) == {"l", "w"}


def test_a_chunk_has_room_for_as_many_passes_as_may_run_at_once() -> None:
    def chunked(concurrency: int) -> dict[str, int]:
        loop: JsonObject = {"parameters": {"concurrency": concurrency}}
        graph = draw("t:start l:each l/w:while w/a", "t>l", l=loop, w=HUNDREDS)
        result = compiled(graph)
        found = [states(text) for text in (result.definition, *result.children.values())]
        every = [state for machine in found for state in machine.values()]
        calls = [state["Arguments"]["Payload"] for state in every if "Arguments" in state]
        sizes = {call["node"]: call["chunk_size"] for call in calls if "chunk_size" in call}
        return {node: int(size.strip("{%} ")) for node, size in sizes.items()}

    assert chunked(1) == {"l": 1}
    assert set(chunked(10)) == {"l", "w"}
    assert chunked(10)["l"] >= 10


def test_a_loop_beside_others_in_branches_is_found() -> None:
    graph = draw(
        "t:start x y l:each l/a",
        "t>x t>y x>l",
        l={"parameters": {"max_items": 1_000_000}},
    )
    assert set(compiled(graph).children) == {"l"}


def test_limits_of_loops_are_fixed_numbers() -> None:
    for value in ("{{ $input }}", True):
        graph = draw("t:start l:each l/a", "t>l", l={"parameters": {"max_items": value}})
        with pytest.raises(BadInput, match="max_items of node l must be a fixed whole number"):
            compiled(graph)


def test_more_events_than_an_execution_may_have_are_refused() -> None:
    nodes = "t:start " + " ".join(f"a{n}" for n in range(5000))
    edges = "t>a0 " + " ".join(f"a{n}>a{n + 1}" for n in range(4999))
    with pytest.raises(BadInput, match="25,007 history events, 20,000 are allowed"):
        compiled(draw(nodes, edges))


def test_a_loop_too_heavy_for_any_chunk_is_named() -> None:
    graph = draw("t:start l:each l/a l/b", "t>l a>b")
    with pytest.raises(BadInput, match="Loop l alone spends"):
        compiled(graph, events=20)


def test_a_definition_too_large_for_amazon_is_refused() -> None:
    names = [f"a{n}_{'x' * 30}" for n in range(1900)]
    edges = "t>" + names[0] + " " + " ".join(f"{a}>{b}" for a, b in itertools.pairwise(names))
    with pytest.raises(BadInput, match="bytes, 900,000 are allowed"):
        compiled(draw("t:start " + " ".join(names), edges))


def test_a_definition_says_where_it_comes_from() -> None:
    text = compiled(draw("t:start l:each l/a", "t>l"), comment="Leave v3").definition
    assert json.loads(text)["Comment"] == "Leave v3"


def test_a_port_that_is_not_a_word_is_written_as_text() -> None:
    graph = draw(
        "t:start s:switch a b",
        "t>s",
        s={"parameters": {"cases": ["a'b", "%}"]}},
    )
    graph = graph.model_validate(
        graph.model_dump(by_alias=True)
        | {
            "edges": [
                {"from": "t", "to": "s"},
                {"from": "s", "port": "a'b", "to": "a"},
                {"from": "s", "port": "%}", "to": "b"},
            ]
        }
    )
    rules = states(compiled(graph).definition)["s ? port"]["Choices"]
    assert rules[0]["Condition"] == '{% $n_s = "a\'b" %}'


def test_what_follows_a_caught_while_knows_that_it_went_well() -> None:
    graph = draw(
        "t:start w:while w/a x:if y:if m",
        "t>w t>x w>m x.true>m w.error>y",
        w={"on_error": "branch"},
    )
    found = states(compiled(graph).definition)
    assert found["w · flow.while"]["Assign"] == {"n_w": "out"}


def test_whiles_in_whiles_are_counted_by_their_own_passes() -> None:
    graph = draw("t:start u:while u/v:while v/w:while w/a", "t>u")
    result = compiled(graph)
    assert result.children
    assert result.forecast.events <= 20_000
