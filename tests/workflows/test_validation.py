"""What validation finds, and what it lets pass."""

from __future__ import annotations

import pytest

from stellwerk.catalogue.model import Kind
from stellwerk.kernel.json import JsonObject, JsonValue
from stellwerk.workflows.faults import Code, Fault
from stellwerk.workflows.graph import Graph, Node
from stellwerk.workflows.validate.validation import validate
from tests.workflows.catalogue import FakeCatalogue, FakeResources, fields, node_type
from tests.workflows.graphs import codes, faults, graph, node, start

ASK: JsonObject = {"assignees": ["role:finance"]}


def one(built: Graph) -> Fault:
    """Return the only fault of a graph."""
    (found,) = faults(built)
    return found


def after_start(*nodes: Node) -> Graph:
    return graph([start(), *nodes], *(f"start -> {each.key}" for each in nodes if not each.parent))


def using(value: JsonValue, **more: JsonValue) -> Node:
    return node("user", "data.set", {"value": value}, **more)


def test_a_sound_graph_has_no_faults() -> None:
    built = graph(
        [
            node("hook", "trigger.webhook"),
            node("large", "flow.if", {"condition": "{{ $nodes.hook.body.amount > 1000 }}"}),
            node("approve", "input.approval", {**ASK, "due": "P3D", "on_expire": "default"}),
            node(
                "paid", "data.set", {"value": "{{ $exists($nodes.approve) ? $nodes.approve : 0 }}"}
            ),
            node("lines", "flow.for_each", {"items": "{{ $nodes.hook.body.lines }}"}),
            node("price", "data.set", {"value": "{{ $item.price * $index }}"}, parent="lines"),
            node("end", "flow.stop", {"message": "{{ $nodes.lines.items[0] }}"}),
        ],
        "hook -> large",
        "large:true -> approve",
        "large:false -> paid",
        "approve:approved -> paid",
        "approve:expired -> paid",
        "paid -> lines",
        "lines -> end",
    )
    assert faults(built) == []


@pytest.mark.parametrize(
    "key", ["input", "nodes", "error", "item", "true", "and", "function", "merge"]
)
def test_keys_named_like_words_of_the_language_are_keys(key: str) -> None:
    built = graph(
        [start(), node(key), using(f"{{{{ $nodes.`{key}`.x }}}}")],
        f"start -> {key}",
        f"{key} -> user",
    )
    assert faults(built) == []


@pytest.mark.parametrize(
    ("key", "proposal"),
    [
        ("Prüfung 1", "pruefung_1"),
        ("Größe", "groesse"),
        ("élan", "elan"),
        ("9_lives", "lives"),
        ("a-b", "a_b"),
        ("ф", ""),
        ("检查", ""),
        ("x" * 41, "x" * 40),
        ("", ""),
        ("a\n", "a"),
    ],
)
def test_keys_in_other_scripts_are_told_with_a_proposal(key: str, proposal: str) -> None:
    found = one(after_start(node(key)))
    assert found.code is Code.KEY_MALFORMED
    assert found.place == "nodes[1].key"
    assert ("For instance " in found.remedy) == bool(proposal)
    assert proposal in found.remedy


def test_a_cycle_is_told_with_its_path() -> None:
    built = graph(
        [start(), *map(node, ["a", "b", "c", "d"])],
        "start -> b",
        "a -> b",
        "b -> c",
        "c -> a",
        "c -> d",
    )
    found = one(built)
    assert found.message == "Nodes wait for one another: a -> b -> c -> a."
    assert found.example == ("a", "b", "c", "a")


def test_each_knot_is_told_once_by_a_shortest_cycle() -> None:
    built = graph(
        [start(), *map(node, ["a", "b", "c", "x", "y", "self"])],
        "start -> a",
        "a -> b",
        "b -> c",
        "c -> a",
        "b -> a",
        "c -> x",
        "x -> y",
        "y -> x",
        "self -> self",
    )
    assert [fault.message.partition(": ")[2] for fault in faults(built)] == [
        "a -> b -> a.",
        "self -> self.",
        "x -> y -> x.",
    ]


def test_what_only_a_cycle_leads_to_is_no_further_fault() -> None:
    built = graph(
        [start(), node("a"), node("b"), using("{{ $nodes.a }}")],
        "start -> a",
        "a -> b",
        "b -> a",
        "b -> user",
    )
    assert codes(built) == ["cycle"]


def test_ports_that_a_node_lacks_are_told_with_those_it_has() -> None:
    built = graph(
        [
            start(),
            node("if", "flow.if", {"condition": True}),
            node("a"),
            node("stop", "flow.stop"),
            node("b"),
        ],
        "start -> if",
        "if:yes -> a",
        "if:true -> a",
        "a -> stop",
        "a:error -> b",
        "stop -> b",
        "a -> b",
    )
    found = {fault.edge.port if fault.edge else "": fault for fault in faults(built)}
    assert found["yes"].remedy == "Its ports are true, false."
    assert "on_error" in found["error"].remedy
    assert "Nothing can follow" in found["out"].remedy
    assert {fault.code for fault in found.values()} == {Code.EDGE_PORT_UNKNOWN}


def test_a_switch_has_a_port_for_each_case() -> None:
    cases: JsonValue = ["small", {"port": "large", "when": "{{ $input.x > 1 }}"}]
    built = graph(
        [start(), node("sw", "flow.switch", {"cases": cases}), node("a")],
        "start -> sw",
        "sw:small -> a",
        "sw:large -> a",
        "sw:default -> a",
    )
    assert faults(built) == []


def test_the_error_port_is_there_where_errors_branch() -> None:
    built = graph(
        [start(), node("a", on_error="branch"), node("b")], "start -> a", "a -> b", "a:error -> b"
    )
    assert faults(built) == []


def test_a_disabled_node_fires_its_first_port_and_its_parameters_do_not_matter() -> None:
    built = graph(
        [start(), node("if", "flow.if", disabled=True), node("a"), node("b")],
        "start -> if",
        "if:true -> a",
        "if:false -> b",
    )
    assert codes(built) == ["port_never_fires"]


def test_what_hangs_on_a_port_that_never_fires_is_not_examined_for_references() -> None:
    built = graph(
        [start(), node("ask", "input.approval", ASK), using("{{ $nodes.ask }}")],
        "start -> ask",
        "ask:expired -> user",
    )
    assert codes(built) == ["port_never_fires"]


def test_an_expression_decides_whether_a_task_expires() -> None:
    ask = node("ask", "input.approval", {**ASK, "on_expire": "{{ $vars.expire }}"})
    built = graph([start(), ask, node("a")], "start -> ask", "ask:expired -> a")
    assert faults(built) == []


def test_a_node_of_unknown_type_might_be_a_trigger() -> None:
    built = graph(
        [node("a", "trigger.mannual"), using("{{ $nodes.a.x }}")], "a -> user", "a:b -> user"
    )
    found = one(built)
    assert found.code is Code.TYPE_UNKNOWN
    assert "Did you mean trigger.manual?" in found.remedy


def test_unreachable_nodes_are_told_beside_others() -> None:
    built = graph([start(), node("a"), node("b"), node("c")], "start -> a", "b -> c", "a -> c")
    assert [(str(fault.code), fault.node) for fault in faults(built)] == [("unreachable", "b")]


def test_five_loops_inside_one_another_are_allowed() -> None:
    loops = [
        node(f"l{n}", "flow.for_each", {"items": []}, parent=f"l{n - 1}" if n else None)
        for n in range(5)
    ]
    assert faults(after_start(*loops, node("a", parent="l4"))) == []


def test_a_circle_of_loops_is_told_for_each_of_them_and_nothing_loops_for_ever() -> None:
    built = graph(
        [
            start(),
            node("l", "flow.for_each", {"items": []}, parent="m"),
            node("m", "flow.for_each", {"items": []}, parent="l"),
            node("in", "data.set", {"value": "{{ $nodes.l }}"}, parent="l"),
        ]
    )
    told = [(str(fault.code), fault.node) for fault in faults(built)]
    assert ("parent_circular", "l") in told
    assert ("parent_circular", "m") in told


def test_a_body_of_a_node_of_unknown_type_is_not_examined() -> None:
    built = after_start(node("l", "flow.foreach"), using("{{ $nodes.start }}", parent="l"))
    assert codes(built) == ["type_unknown"]


# Parameters


def parameter_faults(
    parameters: JsonObject, kind: str = "http.request"
) -> list[tuple[str, str | None]]:
    built = after_start(node("a", kind, parameters))
    return [(fault.message, fault.parameter) for fault in faults(built)]


HEADERS: JsonValue = [{"name": "a", "value": {}}]
URL: JsonObject = {"url": "https://example.org"}


@pytest.mark.parametrize(
    ("parameters", "message", "place"),
    [
        ({}, "Node a needs parameter url.", "url"),
        ({"url": 7}, "must be a text, not 7", "url"),
        ({"url": "ftp://x"}, 'must match the pattern "^https?://", not "ftp://x"', "url"),
        ({"url": "https://" + "x" * 2000}, "must have at most 2000 characters", "url"),
        ({**URL, "method": "PUT"}, 'must be one of "GET", "POST", not "PUT"', "method"),
        ({**URL, "timeout": 0}, "must be at least 1, not 0", "timeout"),
        ({**URL, "timeout": None}, "must be a whole number, not null", "timeout"),
        ({**URL, "body": True}, "fits none of the forms that it may have, not true", "body"),
        (
            {**URL, "headers": HEADERS},
            "a text or a number",
            "headers[0].value",
        ),
        (
            {**URL, "headers": [{"nam": "a", "name": "b"}]},
            "no parameter headers[0].nam",
            "headers[0].nam",
        ),
        ({**URL, "headers": [{}]}, "needs parameter headers[0].name", "headers[0].name"),
        ({**URL, "headers": [{"name": "a"}] * 2}, "must not have equal entries", "headers"),
    ],
)
def test_parameters_that_do_not_fit(parameters: JsonObject, message: str, place: str) -> None:
    ((told, where),) = parameter_faults(parameters)
    assert message in told
    assert where == place


@pytest.mark.parametrize(
    "parameters",
    [
        {"url": "{{ $nodes.start.url }}"},
        {"url": "{{ $nodes.start.host }}/path"},
        {**URL, "timeout": "{{ $nodes.start.x }}"},
        {**URL, "method": "{{ $nodes.start.x }}"},
        {**URL, "body": "{{ $nodes.start.x }}"},
        {**URL, "body": {"a": "{{ $nodes.start.x }}"}},
        {**URL, "headers": "{{ $nodes.start.x }}"},
        {**URL, "headers": ["{{ $nodes.start.x }}"]},
        {**URL, "headers": [{"name": "a", "value": "{{ $nodes.start.x }}"}]},
        {**URL, "headers": [{"name": "{{ $nodes.start.x }}"}] * 2},
        {**URL, "connection": "{{ $nodes.start.x }}"},
    ],
)
def test_what_only_a_run_can_tell_is_no_fault(parameters: JsonObject) -> None:
    assert parameter_faults(parameters) == []


@pytest.mark.parametrize(
    ("parameters", "place"),
    [
        ({**URL, "timeout": "in {{ $nodes.start.x }} s"}, "timeout"),
        ({**URL, "body": ["{{ $nodes.start.x }}"]}, "body"),
        ({**URL, "headers": [{"value": "{{ $nodes.start.x }}"}]}, "headers[0].name"),
        ({**URL, "headers": {"a": "{{ $nodes.start.x }}"}}, "headers"),
    ],
)
def test_what_is_wrong_whatever_a_run_tells_is_a_fault(parameters: JsonObject, place: str) -> None:
    assert [where for _, where in parameter_faults(parameters)] == [place]


def test_text_around_a_true_is_no_condition() -> None:
    ((message, _),) = parameter_faults({"condition": "{{ $nodes.start.x }} "}, "flow.if")
    assert "must be true or false" in message


def test_an_expression_that_cannot_be_read_is_no_second_fault() -> None:
    built = after_start(node("a", "http.request", {**URL, "timeout": "{{ $nodes.start.x"}))
    assert codes(built) == ["expression_malformed"]


def test_parameters_that_a_type_does_not_know_are_told_with_those_it_does() -> None:
    built = after_start(
        node("a", "flow.merge", {"mode": "x"}), node("b", "trigger.webhook", {"x": 1})
    )
    remedies = {f.node: f.remedy for f in faults(built) if f.code is Code.PARAMETER_UNKNOWN}
    assert remedies == {"a": "It takes how.", "b": "It takes none."}


def test_a_type_may_allow_anything() -> None:
    free = node_type("free.form", parameters={"additionalProperties": False})
    built = after_start(node("a", "free.form", {"x": 1}))
    found = validate(built, FakeCatalogue(free), FakeResources())
    assert [str(fault.code) for fault in found] == ["parameter_unknown"]


def test_long_values_and_lists_are_shortened_in_messages() -> None:
    many = node_type("many.words", parameters=fields(x={"enum": [f"w{n}" for n in range(20)]}))
    built = after_start(node("a", "many.words", {"x": "y" * 10_000_000}))
    (found,) = validate(built, FakeCatalogue(many), FakeResources())
    assert "and 8 more" in found.message
    assert len(found.message) < 300


# References


@pytest.mark.parametrize(
    ("expression", "code"),
    [
        ("{{ $nodes.start.x }}", None),
        ("{{ $nodes.strat.x }}", Code.REFERENCE_UNKNOWN),
        ("{{ $nodes.user }}", Code.REFERENCE_NOT_UPSTREAM),
        ("{{ $default($nodes.strat, 1) }}", Code.REFERENCE_UNKNOWN),
        ("{{ $index }}", Code.ITEM_OUTSIDE_LOOP),
        ("{{ $exists($item) }}", Code.ITEM_OUTSIDE_LOOP),
        ("{{ input.x }}", Code.EXPRESSION_NAME_UNKNOWN),
        ('{{ $nodes["start"] }}', Code.REFERENCE_DYNAMIC),
        ("{{ $vars.x & $run.id & $trigger.x & $input.y }}", None),
        ("{% $input %}", None),
        ("{{ }}", Code.EXPRESSION_MALFORMED),
    ],
)
def test_references_at_the_top_level(expression: str, code: Code | None) -> None:
    assert [fault.code for fault in faults(after_start(using(expression)))] == (
        [code] if code else []
    )


def test_a_wrong_name_is_told_with_a_near_one() -> None:
    found = one(after_start(using("{{ input.x }}")))
    assert found.remedy == "Did you mean $input?"
    assert one(after_start(using("{{ $nodes.stort }}"))).remedy == "Did you mean start?"


BRANCHES = [
    start(),
    node("if", "flow.if", {"condition": True}),
    node("a"),
    node("b"),
]
JOIN = ("start -> if", "if:true -> a", "if:false -> b", "a -> user", "b -> user")


@pytest.mark.parametrize(
    ("expression", "certain"),
    [
        ("{{ $nodes.if.x }}", True),
        ("{{ $nodes.a.x }}", False),
        ("{{ $default($nodes.a.x, 1) }}", True),
        ("{{ $exists($nodes.a) ? $nodes.a.x : $nodes.start.y }}", True),
        ("{{ $exists($nodes.a) ? $nodes.a.x : $nodes.b.y }}", False),
        ("{{ $nodes.a ?? $default($nodes.b, 0) }}", True),
        ("{{ $exists($nodes.a) and $nodes.a.x }}", True),
    ],
)
def test_references_into_a_branch_need_a_default(expression: str, certain: bool) -> None:
    built = graph([*BRANCHES, using(expression)], *JOIN)
    assert codes(built) == ([] if certain else ["reference_may_be_absent"])


def test_a_reference_into_a_branch_is_told_with_the_way_that_avoids_it() -> None:
    found = one(graph([*BRANCHES, using("{{ $nodes.a }}")], *JOIN))
    assert found.example == ("if:false",)
    assert "node a may not have run by then (for instance on the way if:false)" in found.message
    assert "$default($nodes.a, value)" in found.remedy


def test_a_way_that_is_too_long_to_help_is_not_told() -> None:
    chain = [node(f"n{n}") for n in range(120)]
    built = graph(
        [*BRANCHES, *chain, using("{{ $nodes.a }}")],
        "start -> if",
        "if:true -> a",
        "if:false -> b",
        "a -> n0",
        "b -> n0",
        *(f"n{n} -> n{n + 1}" for n in range(119)),
        "n119 -> user",
    )
    found = one(built)
    assert found.code is Code.REFERENCE_MAY_BE_ABSENT
    assert found.example == ()
    assert "for instance" not in found.message


def test_one_of_several_triggers_may_not_have_run() -> None:
    built = graph([start("t1"), start("t2"), using("{{ $nodes.t1 }}")], "t1 -> user", "t2 -> user")
    found = one(built)
    assert found.code is Code.REFERENCE_MAY_BE_ABSENT
    assert found.example == ("t2:out",)


def test_both_parts_of_a_fork_have_run_where_they_join() -> None:
    built = graph(
        [start(), node("a"), node("b"), using("{{ $nodes.a.x + $nodes.b.x }}")],
        "start -> a",
        "start -> b",
        "a -> user",
        "b -> user",
    )
    assert faults(built) == []


def in_loop(expression: str, kind: str = "flow.for_each") -> Graph:
    loop: JsonObject = {"items": []} if kind == "flow.for_each" else {"condition": "$index < 3"}
    return graph(
        [
            start(),
            node("if", "flow.if", {"condition": True}),
            node("maybe"),
            node("l", kind, loop),
            node("first", parent="l"),
            node("user", "data.set", {"value": expression}, parent="l"),
            node("after"),
        ],
        "start -> if",
        "if:true -> maybe",
        "if:false -> l",
        "maybe -> l",
        "l -> after",
        "first -> user",
    )


@pytest.mark.parametrize(
    ("expression", "code"),
    [
        ("{{ $item & $index }}", None),
        ("{{ $nodes.if }}", None),
        ("{{ $nodes.first }}", None),
        ("{{ $nodes.l }}", Code.REFERENCE_OWN_LOOP),
        ("{{ $nodes.after }}", Code.REFERENCE_NOT_UPSTREAM),
        ("{{ $nodes.maybe }}", Code.REFERENCE_MAY_BE_ABSENT),
    ],
)
def test_references_inside_a_loop(expression: str, code: Code | None) -> None:
    assert [fault.code for fault in faults(in_loop(expression))] == ([code] if code else [])


def test_a_while_loop_has_an_index_and_no_item() -> None:
    assert codes(in_loop("{{ $index }}", "flow.while")) == []
    assert codes(in_loop("{{ $item }}", "flow.while")) == ["item_outside_loop"]


def test_the_way_to_a_loop_tells_why_something_before_it_may_be_absent() -> None:
    assert one(in_loop("{{ $nodes.maybe }}")).example == ("if:false",)


def test_a_node_in_a_loop_cannot_be_seen_from_outside_or_from_another_loop() -> None:
    built = graph(
        [
            start(),
            node("l", "flow.for_each", {"items": []}),
            node("in", parent="l"),
            node("m", "flow.for_each", {"items": []}),
            node("user", "data.set", {"value": "{{ $nodes.in }}"}, parent="m"),
        ],
        "start -> l",
        "l -> m",
    )
    found = one(built)
    assert found.code is Code.REFERENCE_INSIDE_LOOP
    assert found.remedy == "Refer to the loop: $nodes.l"


@pytest.mark.parametrize(
    ("kind", "parameters", "code"),
    [
        ("data.filter", {"items": [], "condition": "$item.x > $index"}, None),
        ("data.filter", {"items": [], "condition": "{{ $item.x > 1 }}"}, None),
        ("data.filter", {"items": [], "condition": "$item.x >"}, Code.EXPRESSION_MALFORMED),
        ("data.filter", {"items": [], "condition": "x > 1"}, Code.EXPRESSION_NAME_UNKNOWN),
        ("data.filter", {"items": [], "condition": "$nodes.strat"}, Code.REFERENCE_UNKNOWN),
        ("data.filter", {"items": "{{ $item }}", "condition": "true"}, Code.ITEM_OUTSIDE_LOOP),
        ("raw.only", {"expression": "$item.x"}, Code.ITEM_OUTSIDE_LOOP),
    ],
)
def test_raw_parameters_are_examined_like_others(
    kind: str, parameters: JsonObject, code: Code | None
) -> None:
    raw = node_type("raw.only", parameters=fields(expression={"type": "string", "x-raw": True}))
    found = validate(after_start(node("a", kind, parameters)), FakeCatalogue(raw), FakeResources())
    assert [fault.code for fault in found] == ([code] if code else [])


def test_the_condition_of_a_while_loop_knows_its_index_only() -> None:
    def loop(condition: str) -> Graph:
        return after_start(node("l", "flow.while", {"condition": condition}), node("a", parent="l"))

    assert codes(loop("$index < 3 and $input.x")) == []
    assert codes(loop("$item.x")) == ["item_outside_loop"]
    assert codes(loop("$nodes.a")) == ["reference_inside_loop"]


# Values between nodes


TYPED = node_type(
    "typed.value",
    result=fields(
        count={"type": "integer"},
        text={"type": "string"},
        maybe={"anyOf": [{"type": "string"}, {"type": "null"}]},
        fixed={"const": 5},
        flag={"enum": [True]},
        words={"enum": ["a", None]},
        both={"allOf": [{"type": ["string", "array"]}, {"type": ["string", "number"]}]},
        inner={"$ref": "#/$defs/Inner"},
        lines={"type": "array", "items": {"type": "string"}},
        anything=True,
        broken={"$ref": "#/$defs/Nowhere"},
        circular={"$ref": "#/properties/circular"},
        impossible={"allOf": [{"type": "string"}, {"type": "number"}]},
    )
    | {"$defs": {"Inner": fields(text={"type": "string"})}},
)
TAKES = node_type(
    "takes.values",
    parameters=fields(
        text={"type": "string"},
        list={"type": "array", "items": {"type": "number"}},
        number={"type": "number"},
        free={},
        raw={"type": "string", "x-raw": True},
        map={"type": "object", "additionalProperties": {"type": "number"}},
        either={"oneOf": [{"type": "number"}, {"type": "boolean"}]},
    ),
)


def flow(parameters: JsonObject, *, disabled: bool = False, on_error: str = "fail") -> list[str]:
    built = graph(
        [
            start(),
            node("source", "typed.value", disabled=disabled, on_error=on_error),
            node("taker", "takes.values", parameters),
        ],
        "start -> source",
        "source -> taker",
    )
    return [f.message for f in validate(built, FakeCatalogue(TYPED, TAKES), FakeResources())]


@pytest.mark.parametrize(
    "parameters",
    [
        {"number": "{{ $nodes.source.text }}"},
        {"number": "{{ $input.text }}"},
        {"number": "{{ $nodes.source }}"},
        {"number": "{{ $nodes.source.maybe }}"},
        {"number": "{{ $nodes.source.words }}"},
        {"number": "{{ $nodes.source.both }}"},
        {"number": "{{ $nodes.source.inner.text }}"},
        {"number": "{{ $nodes.source.lines }}"},
        {"text": "{{ $nodes.source.count }}"},
        {"text": "{{ $nodes.source.fixed }}"},
        {"text": "{{ $nodes.source.flag }}"},
        {"list": "{{ $nodes.source.count }}"},
        {"list": ["{{ $nodes.source.text }}"]},
        {"map": {"a": "{{ $nodes.source.text }}"}},
        {"either": "{{ $nodes.source.text }}"},
    ],
)
def test_values_that_can_never_fit(parameters: JsonObject) -> None:
    (message,) = flow(parameters)
    assert "is needed" in message


@pytest.mark.parametrize("path", ["nowhere", "inner.nowhere"])
def test_fields_that_a_value_never_has(path: str) -> None:
    (message,) = flow({"free": f"{{{{ $nodes.source.{path} }}}}"})
    assert "has no field nowhere" in message


@pytest.mark.parametrize(
    "parameters",
    [
        {"number": "{{ $nodes.source.count }}"},
        {"number": "{{ $nodes.source.fixed }}"},
        {"text": "{{ $nodes.source.maybe }}"},
        {"text": "{{ $nodes.source.both }}"},
        {"text": "{{ $nodes.source.text }}"},
        {"text": "x {{ $nodes.source.count }}"},
        {"number": "{{ $nodes.source.text + 1 }}"},
        {"number": "{{ $nodes.source.lines.x }}"},
        {"number": "{{ $nodes.source.anything }}"},
        {"number": "{{ $nodes.source.broken }}"},
        {"number": "{{ $nodes.source.circular }}"},
        {"number": "{{ $nodes.source.impossible }}"},
        {"number": "{{ $nodes.start.x }}"},
        {"number": "{{ $run.id }}"},
        {"free": "{{ $nodes.source.text }}"},
        {"raw": "{{ $nodes.source.count }}"},
    ],
)
def test_values_that_may_fit(parameters: JsonObject) -> None:
    assert flow(parameters) == []


def test_errors_and_disabled_nodes_may_give_anything() -> None:
    parameters: JsonObject = {"number": "{{ $nodes.source.text }}"}
    assert flow(parameters, on_error="continue") == []
    assert flow(parameters, disabled=True) == []


def test_the_input_of_several_nodes_may_be_anything() -> None:
    built = graph(
        [
            start(),
            node("s", "typed.value"),
            node("z"),
            node("taker", "takes.values", {"number": "{{ $input.text }}"}),
        ],
        "start -> s",
        "start -> z",
        "s -> taker",
        "z -> taker",
    )
    assert validate(built, FakeCatalogue(TYPED, TAKES), FakeResources()) == []


def test_a_field_of_a_value_without_fields_is_told_so() -> None:
    empty = node_type("empty.value", result={"type": "object", "additionalProperties": False})
    built = graph(
        [start(), node("source", "empty.value"), using("{{ $nodes.source.x }}")],
        "start -> source",
        "source -> user",
    )
    (found,) = validate(built, FakeCatalogue(empty), FakeResources())
    assert found.remedy == "Its fields are none."


# Things outside


def test_assignees_may_be_an_expression() -> None:
    ask = node("a", "input.approval", {"assignees": "{{ $nodes.start.who }}"})
    assert faults(after_start(ask)) == []


def test_a_lack_of_assignees_is_one_fault() -> None:
    assert codes(after_start(node("a", "input.approval"))) == ["assignees_missing"]


def test_things_are_looked_up_by_whoever_asks() -> None:
    built = after_start(node("a", "flow.subworkflow", {"workflow": "invoices"}))
    assert faults(built, resources=FakeResources(invoices="workflow")) == []
    (missing,) = faults(built, resources=FakeResources())
    assert 'no workflow "invoices", or it is not open to you' in missing.message
    (wrong,) = faults(built, resources=FakeResources(invoices="agent"))
    assert "is of kind agent, but a workflow is needed" in wrong.message


def test_things_that_only_a_run_can_tell_are_not_looked_up() -> None:
    assert (
        faults(after_start(node("a", "flow.subworkflow", {"workflow": "{{ $nodes.start.w }}"})))
        == []
    )


def test_a_retry_of_what_reads_is_no_warning() -> None:
    assert faults(after_start(node("a", retry={}))) == []


# Stops


def test_a_decision_between_two_stops_is_no_fault() -> None:
    built = graph(
        [
            start(),
            node("if", "flow.if", {"condition": True}),
            node("a", "flow.stop"),
            node("b", "flow.stop"),
        ],
        "start -> if",
        "if:true -> a",
        "if:false -> b",
    )
    assert faults(built) == []


def test_stops_with_errors_may_be_many() -> None:
    stop: JsonObject = {"outcome": "error"}
    built = after_start(
        node("a", "flow.stop", stop), node("b", "flow.stop", stop), node("c", "flow.stop")
    )
    assert faults(built) == []


def test_stops_of_different_triggers_exclude_each_other() -> None:
    built = graph(
        [start("t1"), start("t2"), node("a", "flow.stop"), node("b", "flow.stop")],
        "t1 -> a",
        "t2 -> b",
    )
    assert faults(built) == []


def test_each_stop_is_accused_once() -> None:
    built = after_start(*(node(key, "flow.stop") for key in "abc"))
    assert [fault.node for fault in faults(built)] == ["b", "c"]


def test_a_chain_of_decisions_with_a_stop_each_is_no_fault() -> None:
    count = 6
    tests = [node(f"if{n}", "flow.if", {"condition": True}) for n in range(count)]
    stops = [node(f"stop{n}", "flow.stop") for n in range(count)]
    edges = ["start -> if0", *(f"if{n}:true -> stop{n}" for n in range(count))]
    edges += [f"if{n}:false -> if{n + 1}" for n in range(count - 1)]
    assert faults(graph([start(), *tests, *stops], *edges)) == []


def test_several_ways_to_two_stops_are_walked_once() -> None:
    built = graph(
        [
            start(),
            node("if", "flow.if", {"condition": True}),
            *map(node, ["a", "b", "c", "d"]),
            node("s", "flow.stop"),
            node("t", "flow.stop"),
        ],
        "start -> if",
        *("if:true -> a", "if:true -> b", "a -> s", "b -> s"),
        *("if:false -> c", "if:false -> d", "c -> t", "d -> t"),
    )
    assert faults(built) == []


def test_a_stop_behind_a_port_that_never_fires_meets_no_other() -> None:
    built = graph(
        [
            start(),
            node("ask", "input.approval", ASK),
            node("a", "flow.stop"),
            node("b", "flow.stop"),
        ],
        "start -> ask",
        "ask:approved -> a",
        "ask:expired -> b",
        "start -> b",
    )
    assert codes(built) == ["stop_success_twice", "port_never_fires"]


def test_stops_behind_a_cycle_are_not_examined() -> None:
    built = graph(
        [start(), node("x"), node("a", "flow.stop"), node("b", "flow.stop")],
        "start -> x",
        "x -> x",
        "x -> a",
        "x -> b",
    )
    assert codes(built) == ["cycle"]


def test_a_type_without_settings_has_no_defaults() -> None:
    odd = node_type("odd.stop", Kind.STOP, ports=(), parameters={})
    built = after_start(node("a", "odd.stop"), node("b", "odd.stop"))
    found = validate(built, FakeCatalogue(odd), FakeResources())
    assert [str(fault.code) for fault in found] == ["stop_success_twice"]


# Size


def test_a_thousand_faults_are_all_told() -> None:
    built = after_start(*(node(f"n{n}", "flow.iff") for n in range(1000)))
    assert len(faults(built)) == 1000


def test_five_thousand_nodes_are_examined() -> None:
    nodes = [start()]
    edges = []
    for n in range(1, 5000):
        before = nodes[-1].key
        kind = "flow.if" if n % 3 == 0 else "data.set"
        source = f"n{n - 4}" if n > 4 else "start"
        value: JsonObject = (
            {"condition": True} if kind == "flow.if" else {"value": f"{{{{ $nodes.{before}.x }}}}"}
        )
        port = ":true" if nodes[-1].type == "flow.if" else ""
        edges.append(f"{before}{port} -> n{n}")
        other = next(each for each in nodes[-5:] if each.key == source)
        edges.append(f"{source}{':false' if other.type == 'flow.if' else ''} -> n{n}")
        nodes.append(node(f"n{n}", kind, value))
    found = faults(graph(nodes, *edges))
    assert Code.REFERENCE_MAY_BE_ABSENT in {fault.code for fault in found}
