"""The table of faults: every code is given by something, has words, and is documented."""

from __future__ import annotations

import pytest

from scripts import faults_page, graph_schema
from stellwerk.kernel.ids import NodeKey
from stellwerk.workflows.faults import Code, Fault, InvalidGraph, Severity, errors, ordered
from stellwerk.workflows.graph import Graph
from stellwerk.workflows.reading import read_graph
from tests.workflows.broken import ELSEWHERE, GRAPHS, TEXTS
from tests.workflows.graphs import edge, faults, graph, node, start


def test_every_code_is_given_by_some_graph_or_text() -> None:
    assert {str(code) for code in Code} == set(GRAPHS) | set(TEXTS) | ELSEWHERE


@pytest.mark.parametrize("code", GRAPHS)
def test_a_broken_graph_has_its_fault(code: str) -> None:
    found = faults(GRAPHS[code])
    assert code in {str(fault.code) for fault in found}
    assert all(fault.message.endswith(".") for fault in found)


@pytest.mark.parametrize("code", sorted(set(GRAPHS) - {"parent_circular"}))
def test_a_broken_graph_has_no_other_error(code: str) -> None:
    assert {str(fault.code) for fault in errors(faults(GRAPHS[code]))} <= {code}


@pytest.mark.parametrize("code", TEXTS)
def test_a_broken_text_has_its_fault(code: str) -> None:
    with pytest.raises(InvalidGraph) as caught:
        read_graph(TEXTS[code])
    assert code in {str(fault.code) for fault in caught.value.faults}
    assert caught.value.remedy


def test_no_two_codes_share_their_words() -> None:
    assert len({code.value.meaning for code in Code}) == len(Code) == len(Code.__members__)


def test_a_fault_is_json_without_empty_fields() -> None:
    fault = Fault(Code.CYCLE, "M.", node=NodeKey("a"), example=("a", "b"))
    assert fault.as_json() == {
        "code": "cycle",
        "severity": "error",
        "node": "a",
        "message": "M.",
        "remedy": Code.CYCLE.value.remedy,
        "example": ["a", "b"],
    }
    at_edge = Fault(Code.EDGE_DUPLICATE, "M.", "R.", edge=edge("a -> b")).as_json()
    assert at_edge["edge"] == {"from": "a", "port": "out", "to": "b"}
    assert at_edge["remedy"] == "R."


def test_errors_come_before_warnings_and_each_fault_once() -> None:
    warning = Fault(Code.RETRY_OF_WRITE, "W.", node=NodeKey("a"))
    error = Fault(Code.CYCLE, "E.", node=NodeKey("b"))
    assert ordered([warning, error, error]) == (error, warning)
    assert errors([warning, error]) == (error,)
    assert warning.severity is Severity.WARNING


def test_an_invalid_graph_tells_its_first_fault_and_how_many_there_are() -> None:
    one = InvalidGraph([Fault(Code.CYCLE, "E.")])
    assert one.message == "E."
    assert one.remedy == Code.CYCLE.value.remedy
    two = InvalidGraph([Fault(Code.CYCLE, "E.", "R."), Fault(Code.CYCLE, "F.")])
    assert (two.message, two.remedy) == ("E. (and 1 more)", "R.")


def test_the_order_of_faults_does_not_depend_on_the_order_of_the_graph() -> None:
    nodes = [start(), node("a", "flow.iff"), node("b", "flow.if"), node("c", on_error="branch")]
    edges = ("start -> a", "start -> b", "start -> c", "start -> d")
    there = faults(graph(nodes, *edges))
    back = faults(graph(nodes[::-1], *reversed(edges)))
    assert there == back


def test_faults_of_an_empty_graph() -> None:
    assert [str(fault.code) for fault in faults(Graph())] == ["trigger_missing"]


def test_generated_pages_are_up_to_date() -> None:
    assert faults_page.main(["--check"]) == 0
    assert graph_schema.main(["--check"]) == 0
