"""A local cloud in a process of its own, and a terminal in which a page is pasted."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path

from tests.tour.page import Block

ROOT = Path(__file__).parents[2]
PATIENCE = 60.0
"""Seconds that a page may take on a busy machine; it takes a few."""
_MARK = "\x1e"
"""Between what one block writes and what the next one does: no text has it."""


@contextmanager
def cloud(folder: Path) -> Iterator[str]:
    """Run a local cloud on free ports for the block; yields its address."""
    command = [sys.executable, "-m", "localcloud.cli.main", "up", "--api-port", "0", "--json"]
    environment = _environment() | {"STELLWERK_DATA": str(folder)}
    with subprocess.Popen(
        command, cwd=ROOT, env=environment, stdout=subprocess.PIPE, text=True
    ) as process:
        assert process.stdout is not None
        try:
            said = "".join(iter(process.stdout.readline, "}\n"))
            yield str(json.loads(f"{said}}}")["api"])
        finally:
            process.terminate()
            with suppress(subprocess.TimeoutExpired):
                process.wait(timeout=20)
            process.kill()


def pasted(blocks: Sequence[Block], site: str, folder: Path) -> Sequence[str]:
    """Run all blocks in one session of bash, and return what each has written.

    It ends at the first command that fails: the blocks from there on have written less.
    """
    mark = f"printf '{_MARK}'\n"
    script = "set -euo pipefail\nexec 2>&1\n" + mark.join(block.commands for block in blocks)
    environment = _environment() | {"SITE": site, "TMPDIR": str(folder)}
    done = subprocess.run(
        ["bash", "-c", script],
        cwd=ROOT,
        env=environment,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        timeout=PATIENCE,
        check=False,
    )
    return done.stdout.decode().split(_MARK)


def _environment() -> dict[str, str]:
    """Return the environment without what would lead elsewhere, and with this Python first."""
    kept = {name: value for name, value in os.environ.items() if not name.startswith("STELLWERK_")}
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    return kept | {"PATH": path, "LC_ALL": "C.UTF-8", "PYTHONUTF8": "1", "NO_PROXY": "127.0.0.1"}
