"""How long a node's Lambda takes from its first import to its first write to the journal.

Each time in a fresh process with compiled bytecode, against a local cloud that is reached by HTTP.
The start of the interpreter is not counted: AWS has that done before the handler is imported.
"""

from __future__ import annotations

import json
import os
import statistics
import subprocess
import sys
from collections.abc import Iterator
from datetime import UTC, datetime

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


def rows() -> Iterator[Row]:
    """Yield the median per handler."""
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
        note = f"Python {sys.version_info.major}.{sys.version_info.minor}, bytecode present"
        for handler in HANDLERS:
            taken = [_once(handler, event, str(cloud.endpoint)) for _ in range(TIMES)]
            name = handler.removesuffix(".handler")
            yield Row(f"{name}: import to first write", statistics.median(taken), "ms", 500, note)


def _once(handler: str, event: str, endpoint: str) -> float:
    environment = {
        "PATH": os.environ["PATH"],
        "PYTHONPATH": "layers/core:functions:.",
        "STELLWERK_ENDPOINT_URL": endpoint,
        "AWS_ACCESS_KEY_ID": "local",
        "AWS_SECRET_ACCESS_KEY": "local",
        "AWS_DEFAULT_REGION": "eu-central-1",
    }
    done = subprocess.run(
        [sys.executable, "-m", "benchmarks.first_write", handler, event],
        env=environment,
        capture_output=True,
        text=True,
        timeout=60,
        check=True,
    )
    return float(done.stdout)
