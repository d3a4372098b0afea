"""Runs a loop over so many items on a journal on disk, and says what the process needed.

`python -m tests.handlers.loop_memory ITEMS` writes the peak of its memory in kilobytes.
"""

from __future__ import annotations

import resource
import sys
import tempfile
from pathlib import Path

from stellwerk.kernel.json import JsonObject
from stellwerk.runs.finishing import Ended
from stellwerk.runs.model import RunStatus
from tests.handlers.floor import Floor
from tests.handlers.on_disk import DiskJournal, DiskValues


def run(folder: Path, items: int) -> int:
    """Let every node of the loop run once per item, then the loop and its run end.

    Return the peak of the process's memory until then, in kilobytes.
    """
    floor = Floor(journal=DiskJournal(folder / "journal"), objects=DiskValues(folder))
    loop: JsonObject = {"items": "{{ $trigger }}", "max_items": 100_000}
    double: JsonObject = {"fields": {"twice": "{{ $item * 2 }}"}}
    floor.publish(
        {
            "start": {"type": "trigger.manual"},
            "lines": {"type": "flow.for_each", "parameters": loop},
            "double": {"type": "data.set", "parent": "lines", "parameters": double},
            "never": {"type": "data.set", "parent": "lines", "parameters": {"fields": {}}},
        },
        ["start lines", "double.error never"],
    )
    floor.start([*range(items)])
    floor.call("start")
    assert floor.call("lines", phase="open", chunk_size=500)["size"] == items
    for index in range(items):
        floor.call("double", f"lines[{index}]")
        floor.meter.calls.clear()
    floor.call("lines", phase="close")
    over = floor.assembly.endings.execution_ended(floor.scope, floor.run, Ended("SUCCEEDED"))
    assert over.status is RunStatus.COMPLETED
    assert over.output is not None
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    output = floor.world.values.load(floor.scope, over.output)
    expected = {"items": [{"twice": 2 * index} for index in range(items)], "errors": [None] * items}
    assert output == {"lines": expected}
    return peak


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as folder:
        sys.stdout.write(f"{run(Path(folder), int(sys.argv[1]))}\n")
