"""Writes docs/graph.schema.json from the model; --check only says whether it is up to date."""

from __future__ import annotations

import json
import sys
from pathlib import Path

from stellwerk.workflows.graph import KEY_PATTERN, SCHEMA, Graph

PAGE = Path(__file__).parents[1] / "docs" / "graph.schema.json"


def schema() -> str:
    """Return the JSON Schema of a graph as text."""
    found = Graph.model_json_schema(by_alias=True)
    found["$defs"]["Node"]["properties"]["key"]["pattern"] = KEY_PATTERN
    found["required"] = ["nodes"]
    head = {"$schema": "https://json-schema.org/draft/2020-12/schema", "$id": SCHEMA}
    return json.dumps({**head, **found}, indent=2, ensure_ascii=False) + "\n"


def main(arguments: list[str]) -> int:
    """Write the schema, or compare it."""
    if "--check" not in arguments:
        PAGE.parent.mkdir(exist_ok=True)
        PAGE.write_text(schema(), encoding="utf-8")
        return 0
    if PAGE.is_file() and PAGE.read_text(encoding="utf-8") == schema():
        return 0
    sys.stderr.write("docs/graph.schema.json is out of date: run scripts/graph_schema.py\n")
    return 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
