"""What runs do while the cloud is killed: every kind of control, each write at a service outside.

A write goes to `/effects/RUN/NODE`, so that the service can count what happened without us.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from stellwerk.kernel.json import JsonObject, JsonValue
from stellwerk.workflows.graph import Graph
from tests.samples.cases import Case, graph

NAMED = "{{ $trigger.service & '/effects/' & $trigger.id & '/%s' }}"
IN_LOOP = "{{ $trigger.service & '/effects/' & $trigger.id & '/%s-' & $string($index) }}"
CASES = (
    Case("complaint-handling", "defect"),
    Case("order-lines", "partial"),
    Case("import-records", "send-back"),
)
"""Cases of samples that run besides: they write nothing outside."""


def workflows() -> Mapping[str, Graph]:
    """Return the workflows by slug."""
    drawn = {
        "chaos-chain": _chain(),
        "chaos-fork": _fork(),
        "chaos-loop": _loop(),
        "chaos-ask": _ask(),
        "chaos-handled": _handled(),
        "chaos-caller": _caller(),
    }
    return drawn | {case.sample: graph(case.sample) for case in CASES}


def _write(key: str, *, parent: str = "", keyed: bool = False) -> JsonObject:
    url = (IN_LOOP if parent else NAMED) % key
    parameters: JsonObject = {"method": "POST", "url": url, "body": {"node": key}}
    if keyed:
        parameters["idempotency_header"] = "Idempotency-Key"
    inside: JsonObject = {"parent": parent} if parent else {}
    return {"key": key, "type": "http.request", "parameters": parameters, **inside}


def _node(key: str, kind: str, **parameters: JsonValue) -> JsonObject:
    return {"key": key, "type": kind, "parameters": parameters}


def _graph(title: str, nodes: Sequence[JsonObject], edges: str) -> Graph:
    drawn = [_node("start", "trigger.manual"), *nodes]
    return Graph.model_validate(
        {"title": title, "nodes": drawn, "edges": [_edge(one) for one in edges.split()]}
    )


def _edge(drawn: str) -> JsonObject:
    source, _, target = drawn.partition(">")
    key, _, port = source.partition(".")
    return {"from": key, "port": port or "out", "to": target}


def _chain() -> Graph:
    nodes = [_write("first"), _node("sum", "data.set"), _write("last", keyed=True)]
    return _graph("Chain", nodes, "start>first first>sum sum>last")


def _fork() -> Graph:
    nodes = [_write("left"), _write("right"), _write("keyed", keyed=True)]
    nodes += [_node("merge", "flow.merge"), _write("after")]
    forked = "start>left start>right start>keyed left>merge right>merge keyed>merge merge>after"
    return _graph("Fork", nodes, forked)


def _loop() -> Graph:
    nodes = [
        _node("each", "flow.for_each", items="{{ [1..6] }}", concurrency=2),
        {**_node("line", "data.set"), "parent": "each"},
        _write("book", parent="each"),
        _write("total"),
    ]
    return _graph("Loop", nodes, "start>each line>book each>total")


def _ask() -> Graph:
    asks = _node("ask", "input.approval", title="Go on?", assignees=["u-demo"])
    nodes = [_write("before"), asks, _write("yes"), _write("no")]
    return _graph("Ask", nodes, "start>before before>ask ask.approved>yes ask.rejected>no")


def _handled() -> Graph:
    fails = _node("fails", "data.transform", expression="$error('planned')")
    nodes = [_write("first"), {**fails, "on_error": "branch"}, _write("mend"), _write("beside")]
    edges = "start>first first>fails fails.error>mend start>beside"
    return _graph("Handled", nodes, edges)


def _caller() -> Graph:
    calls = _node("call", "flow.subworkflow", workflow="chaos-called", input="{{ $trigger }}")
    nodes = [calls, _write("called")]
    return _graph("Caller", nodes, "start>call call>called")


def called() -> Graph:
    """Return the workflow that another one calls: `chaos-called`."""
    nodes = [_node("start", "trigger.called"), _write("inner")]
    return Graph.model_validate(
        {"title": "Called", "nodes": nodes, "edges": [{"from": "start", "to": "inner"}]}
    )
