"""Timing: medians of repeated calls, in milliseconds, and the machine they were taken on."""

from __future__ import annotations

import os
import platform
import statistics
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True)
class Row:
    """One measured number; `aim` is what it should stay below, if something was promised."""

    what: str
    value: float
    unit: str
    aim: float | None = None
    note: str = ""


def median_ms(call: Callable[[], object], *, times: int) -> float:
    """Return the median duration of `times` calls in milliseconds, after one to warm up."""
    call()
    taken = []
    for _ in range(times):
        start = time.perf_counter()
        call()
        taken.append((time.perf_counter() - start) * 1000)
    return statistics.median(taken)


def memory_mb(pid: int | None = None) -> float:
    """Return the resident memory of a process in MiB, from Linux's /proc."""
    pages = int(Path(f"/proc/{pid or os.getpid()}/statm").read_text().split()[1])
    return pages * os.sysconf("SC_PAGE_SIZE") / 2**20


def machine() -> str:
    """Describe where the numbers come from."""
    total = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") / 2**30
    return (
        f"{os.cpu_count()} cores, {total:.0f} GiB, {platform.machine()}, "
        f"{platform.system()} {platform.release()}, Python {platform.python_version()}"
    )
