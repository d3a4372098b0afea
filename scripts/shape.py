"""Fails where code outgrows its room: files over 400 lines, function bodies over 40.

Nine of ten bodies stay within 20 lines. Signature and docstring do not count.
"""

from __future__ import annotations

import ast
import sys
from collections.abc import Iterator
from pathlib import Path

ROOTS = ("layers/core/stellwerk", "functions", "localcloud", "scripts", "benchmarks")
FILE, BODY, USUAL, SHARE = 400, 40, 20, 0.9


def bodies(tree: ast.Module) -> Iterator[tuple[str, int, int]]:
    """Yield name, line and length of the body of every function of a module."""
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            own = node.body[1:] if ast.get_docstring(node, clean=False) else node.body
            last = own[-1].end_lineno if own else None
            yield node.name, node.lineno, (last or 0) - own[0].lineno + 1 if own else 0


def sources() -> Iterator[Path]:
    """Yield the Python files that are the product or make it; tests may be long."""
    for root in ROOTS:
        for path in sorted(Path(root).rglob("*.py")):
            if "node_modules" not in path.parts:
                yield path


def main() -> int:
    """Print every place beyond a limit; return 1 if there is any."""
    found: list[str] = []
    lengths: list[int] = []
    for path in sources():
        text = path.read_text(encoding="utf-8")
        if (lines := len(text.splitlines())) > FILE:
            found.append(f"{path}: {lines} lines, at most {FILE}")
        for name, line, length in bodies(ast.parse(text)):
            lengths.append(length)
            if length > BODY:
                found.append(f"{path}:{line}: {name} has {length} lines, at most {BODY}")
    usual = sum(length <= USUAL for length in lengths) / max(1, len(lengths))
    if usual < SHARE:
        found.append(f"only {usual:.0%} of the bodies have {USUAL} lines at most")
    for fault in found:
        sys.stderr.write(f"{fault}\n")
    return int(bool(found))


if __name__ == "__main__":
    sys.exit(main())
