"""Writes the samples' definitions for people to read; --check says whether they are up to date.

A change of the compiler shows in review as what it changes in `tests/samples/golden/`.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Iterable
from pathlib import Path

from stellwerk.catalogue.store import StoredCatalogue
from stellwerk.kernel.json import JsonValue
from stellwerk.workflows.compile import CompileOptions, compile_graph
from stellwerk.workflows.reading import read_graph

ROOT = Path(__file__).parents[1]
SAMPLES = ROOT / "samplesrc" / "workflows"
GOLDEN = ROOT / "tests" / "samples" / "golden"
_WIDTH = 150


def definitions(samples: Path = SAMPLES) -> dict[str, str]:
    """Return the definitions of all samples by file name, those of child machines included."""
    found: dict[str, str] = {}
    for file in sorted(samples.glob("*.json")):
        if "." in file.stem:
            continue  # an input, or an expected outcome
        graph = read_graph(file.read_text(encoding="utf-8"))
        compiled = compile_graph(graph, StoredCatalogue(), CompileOptions(comment=file.stem))
        found[f"{file.stem}.asl.json"] = compiled.definition
        for loop, text in compiled.children.items():
            found[f"{file.stem}.{loop}.asl.json"] = text
    return found


def laid_out(definition: str) -> str:
    """Return a definition as people read it: what fits on a line is on one line."""
    return _laid_out(json.loads(definition), indent=0, used=0) + "\n"


def main(arguments: list[str], golden: Path = GOLDEN) -> int:
    """Write the files, or compare them."""
    wanted = {name: laid_out(text) for name, text in definitions().items()}
    there = {file.name: file.read_text(encoding="utf-8") for file in golden.glob("*.asl.json")}
    if "--check" not in arguments:
        golden.mkdir(parents=True, exist_ok=True)
        for name in there.keys() - wanted.keys():
            (golden / name).unlink()
        for name, text in wanted.items():
            (golden / name).write_text(text, encoding="utf-8")
        return 0
    stale = sorted(n for n in wanted.keys() | there.keys() if wanted.get(n) != there.get(n))
    for name in stale:
        sys.stderr.write(f"{golden.name}/{name} is out of date: run scripts/golden.py\n")
    return int(bool(stale))


def _laid_out(value: JsonValue, *, indent: int, used: int) -> str:
    """Return JSON for a place that is indented, and whose line `used` characters share."""
    line = json.dumps(value, ensure_ascii=False)
    if indent + used + len(line) < _WIDTH or not isinstance(value, dict | list) or not value:
        return line
    inner = indent + 2
    if isinstance(value, list):
        items = (_laid_out(item, indent=inner, used=0) for item in value)
        return _block("[", items, "]", indent)
    named = ((json.dumps(name, ensure_ascii=False), item) for name, item in value.items())
    fields = (
        f"{name}: {_laid_out(item, indent=inner, used=len(name) + 2)}" for name, item in named
    )
    return _block("{", fields, "}", indent)


def _block(opening: str, parts: Iterable[str], closing: str, indent: int) -> str:
    margin = " " * (indent + 2)
    inside = ",\n".join(margin + part for part in parts)
    return f"{opening}\n{inside}\n{' ' * indent}{closing}"


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
