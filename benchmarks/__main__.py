"""`make bench`: measure all, print the table, and write it to `benchmarks/results.md`."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable
from datetime import UTC, datetime
from pathlib import Path

from benchmarks import compiling, imports, lists, operations, running, schedules, triggers, watching
from benchmarks.measure import Row, machine

RESULTS = Path(__file__).parent / "results.md"
PARTS: tuple[tuple[str, Callable[[], Iterable[Row]]], ...] = (
    ("Compiling", compiling.rows),
    ("Running on the local cloud", running.rows),
    ("The API by HTTP", operations.rows),
    ("What starts runs", triggers.rows),
    ("Watching runs", watching.rows),
    ("Schedules: a change as there are more", schedules.rows),
    ("A page of a list as tables grow", lists.rows),
    ("Starting a Lambda", imports.rows),
)


def main() -> None:
    """Measure every part, or those that the arguments name by a word of their title."""
    wanted = [word.lower() for word in sys.argv[1:]]
    lines = [
        "# Measured",
        "",
        f"By `make bench` on {datetime.now(UTC):%Y-%m-%d}: {machine()}.",
        "",
    ]
    for title, measure in PARTS:
        if wanted and not any(word in title.lower() for word in wanted):
            continue
        lines += [f"## {title}", "", "| what | measured | aim |", "|---|---|---|"]
        for row in measure():
            line = _line(row)
            sys.stdout.write(line + "\n")
            lines.append(line)
        lines.append("")
    if not wanted:
        RESULTS.write_text("\n".join(lines), encoding="utf-8")


def _line(row: Row) -> str:
    value = f"{row.value:.0f}" if row.value >= 100 else f"{row.value:.3g}"
    aim = f"under {row.aim:.0f}" if row.aim is not None else ""
    note = f" ({row.note})" if row.note else ""
    return f"| {row.what} | {value} {row.unit}{note} | {aim} |"


main()
