"""A loop needs no more memory for more items: what we hold of a run does not grow with it.

The stores are on disk here. The local cloud keeps its tables in memory, which grows with them.
"""

from __future__ import annotations

import subprocess
import sys

import pytest

MORE = 1.2


def peak(items: int) -> int:
    """Return how many kilobytes a process needs for a loop over so many items."""
    command = [sys.executable, "-m", "tests.handlers.loop_memory", str(items)]
    done = subprocess.run(command, capture_output=True, text=True, check=True, timeout=1800)
    return int(done.stdout)


def test_a_loop_over_some_more_items_needs_no_more_memory() -> None:
    assert peak(1500) <= peak(150) * MORE


@pytest.mark.soak
def test_a_loop_over_fifty_thousand_items_needs_no_more_memory_than_over_five_thousand() -> None:
    assert peak(50_000) <= peak(5_000) * MORE
