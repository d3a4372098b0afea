"""How long compiling takes and how large definitions are: 100, 300 and 1,000 nodes."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from itertools import pairwise

from benchmarks.measure import Row, median_ms
from stellwerk.catalogue.store import StoredCatalogue
from stellwerk.kernel.json import JsonObject, JsonValue
from stellwerk.workflows.compile import CompileOptions, compile_graph
from stellwerk.workflows.graph import Graph

SIZES = (100, 300, 1000)


def chain(size: int) -> Graph:
    """Return a trigger and `size` steps after each other."""
    nodes: list[JsonValue] = [{"key": "t", "type": "trigger.manual"}]
    nodes += [{"key": f"n{i}", "type": "data.set"} for i in range(size)]
    keys = ["t", *(f"n{i}" for i in range(size))]
    return _graph(nodes, [(a, "out", b) for a, b in pairwise(keys)])


def blocks(size: int) -> Graph:
    """Return blocks of a switch, a fork, a join and an untaken path, all with one error handler."""
    nodes: list[JsonValue] = [
        {"key": "t", "type": "trigger.manual"},
        {"key": "handler", "type": "data.set"},
    ]
    edges: list[tuple[str, str, str]] = []
    last = "t"
    for i in range(size // 5):
        nodes.append({"key": f"s{i}", "type": "flow.if", "on_error": "branch"})
        nodes += [{"key": f"{name}{i}", "type": "data.set"} for name in "abcj"]
        edges += [
            (last, "out", f"s{i}"),
            (f"s{i}", "true", f"a{i}"),
            (f"s{i}", "true", f"b{i}"),
            (f"s{i}", "false", f"c{i}"),
            (f"s{i}", "error", "handler"),
            *((f"{name}{i}", "out", f"j{i}") for name in "abc"),
        ]
        last = f"j{i}"
    return _graph(nodes, edges)


def rows() -> Iterator[Row]:
    """Yield time and size per shape and number of nodes."""
    catalogue = StoredCatalogue()
    options = CompileOptions()
    for shape, draw in (("chain", chain), ("blocks with forks and error ports", blocks)):
        for size in SIZES:
            graph = draw(size)
            text = compile_graph(graph, catalogue, options).definition
            taken = median_ms(partial(compile_graph, graph, catalogue, options), times=5)
            last = size == SIZES[-1]
            yield Row(f"compile {shape}, {size} nodes", taken, "ms", 1000 if last else None)
            kilobytes = len(text.encode()) / 1000
            aim = 450 if last else None
            yield Row(f"definition of {shape}, {size} nodes", kilobytes, "kB", aim)


def _graph(nodes: list[JsonValue], edges: list[tuple[str, str, str]]) -> Graph:
    drawn: JsonObject = {
        "nodes": nodes,
        "edges": [{"from": source, "port": port, "to": target} for source, port, target in edges],
    }
    return Graph.model_validate(drawn)
