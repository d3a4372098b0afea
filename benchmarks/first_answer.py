"""Run in a fresh process: import the API's Lambda and let it answer one event.

`python -m benchmarks.first_answer EVENT`, settings from the environment as in a Lambda; prints the
milliseconds of the import and those of the answer, which is a refusal: it asks AWS for nothing.
"""

from __future__ import annotations

import time

BEGAN = time.perf_counter()

import importlib  # noqa: E402 - what follows is what is measured
import json  # noqa: E402
import sys  # noqa: E402


def main() -> None:
    """Print both."""
    handler = importlib.import_module("api.handler").handler
    imported = time.perf_counter()
    answer = handler(json.loads(sys.argv[1]), None)
    answered = time.perf_counter()
    if answer["statusCode"] != 401:
        raise RuntimeError(f"a request without a token got {answer['statusCode']}")
    sys.stdout.write(f"{(imported - BEGAN) * 1000:.1f} {(answered - imported) * 1000:.1f}")


main()
