"""Run in a fresh process: import a node's Lambda, handle one event, print ms up to the first write.

`python -m benchmarks.first_write HANDLER EVENT`, settings from the environment as in a Lambda.
"""

from __future__ import annotations

import time

BEGAN = time.perf_counter()

import importlib  # noqa: E402 - what follows is what is measured
import json  # noqa: E402
import os  # noqa: E402
import sys  # noqa: E402


class Context:
    """What Lambda tells a handler about its invocation."""

    aws_request_id = "first"
    function_name = "first"
    memory_limit_in_mb = 512

    def get_remaining_time_in_millis(self) -> int:
        """Return a minute."""
        return 60_000


def main() -> None:
    """Print the milliseconds up to the first write, and end there."""
    handler = importlib.import_module(sys.argv[1]).handler
    bootstrap = importlib.import_module("stellwerk.bootstrap")
    client = bootstrap.services().assembly.world.journal

    def write(*given: object, **named: object) -> None:
        sys.stdout.write(f"{(time.perf_counter() - BEGAN) * 1000:.1f}")
        sys.stdout.flush()
        os._exit(0)

    client.write = write
    handler(json.loads(sys.argv[2]), Context())


main()
