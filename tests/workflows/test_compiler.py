"""Checks and compiler as one: limits of the platform are faults like any other."""

from __future__ import annotations

from dataclasses import replace

from stellwerk.kernel.json import JsonObject
from stellwerk.workflows.compiler import GraphCompiler
from stellwerk.workflows.faults import Code, Fault
from stellwerk.workflows.graph import Graph
from tests.workflows.catalogue import FakeResources
from tests.workflows.compile.drawing import SmallCatalogue, draw
from tests.workflows.desk import ANNA, Desk


def check(graph: Graph) -> list[Fault]:
    return list(GraphCompiler().check(graph, SmallCatalogue(), FakeResources()))


def test_a_graph_in_order_has_no_fault_and_compiles() -> None:
    graph = draw("t:start a", "t>a")
    assert not check(graph)
    compiled = GraphCompiler().compile(graph, SmallCatalogue(), prefix="p", comment="c")
    assert "p-data-set" in compiled.definition


def test_faults_come_before_limits() -> None:
    assert [fault.code for fault in check(draw("a", ""))] == [Code.TRIGGER_MISSING]


def test_what_outgrows_an_execution_is_a_fault_at_the_node_that_spends_it() -> None:
    nodes = "t:start l:each " + " ".join(f"l/a{n}" for n in range(4500))
    edges = "t>l " + " ".join(f"a{n}>a{n + 1}" for n in range(4499))
    (fault,) = check(draw(nodes, edges))
    assert (fault.code, fault.node) == (Code.BUDGET_EXCEEDED, "l")
    assert "sub-workflow" in fault.remedy


def test_a_limit_that_is_an_expression_is_a_fault_of_that_parameter() -> None:
    loop: JsonObject = {"parameters": {"max_items": "{{ $input }}"}}
    (fault,) = check(draw("t:start l:each l/a", "t>l", l=loop))
    assert (fault.code, fault.node, fault.parameter) == (Code.PARAMETER_INVALID, "l", "max_items")


def test_it_opens_the_service_that_publishes_with_it() -> None:
    desk = Desk()
    service = GraphCompiler().service(replace(desk.press, catalogue=SmallCatalogue()))
    preview = service.preview(ANNA, draw("t:start a", "t>a"))
    assert preview.forecast is not None
    assert preview.forecast.size == len(preview.definitions[""].encode())
