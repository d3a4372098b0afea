from __future__ import annotations

from localcloud.cli.mermaid import mermaid
from stellwerk.catalogue.store import StoredCatalogue
from stellwerk.workflows.graph import Graph

GRAPH = Graph.model_validate(
    {
        "nodes": [
            {"key": "start", "type": "trigger.manual"},
            {"key": "large", "type": "flow.if", "title": 'More than "1000" | <much>'},
            {"key": "ask", "type": "input.approval"},
            {"key": "lines", "type": "flow.for_each"},
            {"key": "end", "type": "data.set", "parent": "lines"},
            {"key": "odd", "type": "no.such"},
            {"key": "stop", "type": "flow.stop"},
        ],
        "edges": [
            {"from": "start", "to": "large"},
            {"from": "large", "port": "true", "to": "ask"},
            {"from": "large", "port": "false", "to": "lines"},
            {"from": "lines", "to": "stop"},
            {"from": "start", "to": "odd"},
        ],
    }
)


def test_a_graph_is_drawn_with_decisions_people_and_loops() -> None:
    assert mermaid(GRAPH, StoredCatalogue()).splitlines() == [
        "flowchart TD",
        '    n_ask[/"ask"/]',
        '    n_large{"large<br/>More than #quot;1000#quot; #124; #lt;much#gt;"}',
        '    subgraph n_lines["for each: lines"]',
        '        n_end["end"]',
        "    end",
        '    n_odd["odd"]',
        '    n_start(["start"])',
        '    n_stop[["stop"]]',
        "    n_large -->|false| n_lines",
        "    n_large -->|true| n_ask",
        "    n_lines --> n_stop",
        "    n_start --> n_large",
        "    n_start --> n_odd",
    ]
