"""The table of expectations, read."""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path

FILE = Path(__file__).with_name("expectations.txt")
PRINCIPALS = (
    *("none", "broken", "expired", "audience"),
    *("mandate", "instance", "viewer", "user", "own", "admin", "root"),
)
BASE = "/api/v1"
MANDATE = "/mandates/{mandate}"
INSTANCE = f"{MANDATE}/instances/{{instance}}"
_SHORT = {"M": MANDATE, "I": INSTANCE}
Table = Mapping[str, Mapping[str, int]]
"""Statuses by route (`GET /api/v1/me`) and principal; a principal that does not apply is left out.
"""


def expectations(text: str | None = None) -> Table:
    """Return the table; raises ValueError for a line that cannot be read, or a route told twice."""
    table: dict[str, dict[str, int]] = {}
    joined = re.sub(r"\\\n", " ", FILE.read_text() if text is None else text)
    for line in joined.splitlines():
        if not line.strip() or line.startswith("#"):
            continue
        method, path, *statuses = line.split()
        route = f"{method} {long_path(path)}"
        if len(statuses) != len(PRINCIPALS) or route in table:
            raise ValueError(f"this line has too few or many statuses, or comes twice: {line}")
        said = zip(PRINCIPALS, statuses, strict=True)
        table[route] = {principal: int(status) for principal, status in said if status != "-"}
    return table


def long_path(path: str) -> str:
    """Return the path template that the table shortens: `I/runs` is that of the instance's runs."""
    first, slash, rest = path.partition("/")
    return f"{BASE}{_SHORT[first]}{slash}{rest}" if first in _SHORT else f"{BASE}{path}"
