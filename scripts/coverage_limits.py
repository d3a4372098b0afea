"""Fails where tests reach too little: coverage_limits.py COVERAGE.JSON, as `make test` writes it.

Lines and branches count together. The rules of workflows and their compiler must be reached wholly,
everything else by nine tenths in each package.
"""

from __future__ import annotations

import sys
from collections import defaultdict
from dataclasses import dataclass
from pathlib import Path

from pydantic import BaseModel, TypeAdapter

WHOLE = "stellwerk.workflows"
REST = 90.0
_ROOTS = ("layers/core/", "functions/")


class _Summary(BaseModel):
    num_statements: int
    covered_lines: int
    num_branches: int
    covered_branches: int


class _File(BaseModel):
    summary: _Summary
    missing_lines: list[int]
    missing_branches: list[tuple[int, int]]


class _Report(BaseModel):
    files: dict[str, _File]


@dataclass
class _Tally:
    wanted: int = 0
    reached: int = 0

    @property
    def percent(self) -> float:
        return 100.0 * self.reached / self.wanted if self.wanted else 100.0


def package_of(path: str) -> str:
    """Return the package that a source file counts for: `stellwerk.workflows`, `nodes`."""
    for root in _ROOTS:
        path = path.removeprefix(root)
    parts = path.split("/")
    depth = 2 if parts[0] == "stellwerk" and len(parts) > 2 else 1
    return ".".join(parts[:depth])


def shortfalls(report: _Report) -> list[str]:
    """Return a line for every package below its limit, and for every gap in the whole ones."""
    tallies: dict[str, _Tally] = defaultdict(_Tally)
    found: list[str] = []
    for path, file in sorted(report.files.items()):
        package = package_of(path)
        tally, summary = tallies[package], file.summary
        tally.wanted += summary.num_statements + summary.num_branches
        tally.reached += summary.covered_lines + summary.covered_branches
        if package == WHOLE and (file.missing_lines or file.missing_branches):
            jumps = [f"{start}->{end}" for start, end in file.missing_branches]
            found.append(f"{path}: not reached: lines {file.missing_lines}, branches {jumps}")
    for package, tally in sorted(tallies.items()):
        limit = 100.0 if package == WHOLE else REST
        if tally.percent < limit:
            found.append(f"{package}: {tally.percent:.1f} % of {limit:.0f} %")
    return found


def main(path: str) -> int:
    """Print the shortfalls of the report at `path`; return 1 if there are any."""
    report = TypeAdapter(_Report).validate_json(Path(path).read_bytes())
    found = shortfalls(report)
    for line in found:
        sys.stderr.write(f"coverage: {line}\n")
    return int(bool(found))


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
