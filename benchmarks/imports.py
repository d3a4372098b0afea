"""How long Lambdas take to start: a node's to its first write to the journal, the API's to stand.

Each time in a fresh process with compiled bytecode, against a local cloud that is reached by HTTP.
The start of the interpreter is not counted: AWS has that done before the handler is imported.

Measured with Lambda's version of Python where this machine has it (`make` then sets up
`.venv-lambda`), else with that of development.
"""

from __future__ import annotations

import json
import os
import re
import statistics
import subprocess
import sys
from collections import Counter
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path

from benchmarks.compiling import chain
from benchmarks.measure import Row
from localcloud.cloud import LocalCloud
from stellwerk.bootstrap import build
from stellwerk.kernel.ids import new_id
from stellwerk.kernel.json import JsonObject
from stellwerk.tenancy.scope import seeded
from stellwerk.workflows.compiler import GraphCompiler

TIMES = 9
HANDLERS = ("nodes.data.set.handler",)
ROOT = Path(__file__).parents[1]
LAMBDA = ROOT / ".venv-lambda" / "bin" / "python"
PYTHON = str(LAMBDA) if LAMBDA.exists() else sys.executable
EVENT = ROOT / "events" / "api.problem.json"
LARGEST = 8
"""Packages whose share of the API's import is shown."""
_IMPORTED = re.compile(r"import time: +(\d+) \|.*\| +([\w.]+)")


def rows() -> Iterator[Row]:
    """Yield the medians of a node's start and of the API's, and what the latter consists of."""
    note = f"Python {_printed(['-V']).split()[-1]}, bytecode present"
    yield from _nodes(note)
    yield from _api(note)


def _api(note: str) -> Iterator[Row]:
    event = json.loads(EVENT.read_text(encoding="utf-8"))
    del event["headers"]["authorization"]
    asked = ["-m", "benchmarks.first_answer", json.dumps(event)]
    taken = [[float(part) for part in _printed(asked).split()] for _ in range(TIMES + 1)][1:]
    imported, answered = (statistics.median(parts) for parts in zip(*taken, strict=True))
    yield Row("api: import", imported, "ms", 900, note)
    yield Row("api: first answer after that", answered, "ms", note="to a request without a token")
    shares = _shares()
    whole = sum(shares.values())
    for package, share in shares.most_common(LARGEST):
        note = f"{100 * share / whole:.0f} %"
        yield Row(f"of the import: {package}", imported * share / whole, "ms", note=note)


def _shares() -> Counter[str]:
    """Return the microseconds that the modules of each package take themselves.

    Importing is slower under observation, so only their relation counts.
    """
    shares: Counter[str] = Counter()
    for line in _run(["-X", "importtime", "-c", "import api.handler"]).stderr.splitlines():
        if found := _IMPORTED.match(line):
            shares[found[2].partition(".")[0]] += int(found[1])
    return shares


def _nodes(note: str) -> Iterator[Row]:
    with LocalCloud(port=0) as cloud:
        services = build(cloud.settings, cloud.clients, compiler=GraphCompiler())
        scope = seeded()
        workflow, version = services.workflows.publish(scope, chain(1), title="cold start")
        run: JsonObject = {
            "id": new_id(datetime.now(UTC)),
            "mandate": scope.mandate,
            "instance": scope.instance,
            "user": scope.user,
            "workflow": workflow.id,
            "version": version.number,
            "execution": 1,
            "trigger": "t",
            "started": datetime.now(UTC).isoformat(),
            "origin": "bench",
            "mode": "live",
        }
        event = json.dumps({"run": run, "path": "", "node": "n0"})
        for handler in HANDLERS:
            taken = [_once(handler, event, str(cloud.endpoint)) for _ in range(TIMES)]
            name = handler.removesuffix(".handler")
            yield Row(f"{name}: import to first write", statistics.median(taken), "ms", 500, note)


def _once(handler: str, event: str, endpoint: str) -> float:
    return float(_printed(["-m", "benchmarks.first_write", handler, event], endpoint))


def _printed(arguments: list[str], endpoint: str = "") -> str:
    return _run(arguments, endpoint).stdout


def _run(arguments: list[str], endpoint: str = "") -> subprocess.CompletedProcess[str]:
    environment = {
        "PATH": os.environ["PATH"],
        "PYTHONPATH": "layers/core:functions:.",
        "STELLWERK_ENDPOINT_URL": endpoint,
        "AWS_ACCESS_KEY_ID": "local",
        "AWS_SECRET_ACCESS_KEY": "local",
        "AWS_DEFAULT_REGION": "eu-central-1",
    }
    return subprocess.run(
        [PYTHON, *arguments],
        env=environment,
        capture_output=True,
        text=True,
        timeout=60,
        check=True,
    )
