"""The States Language as others see it: asl-validator, run once for many definitions."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

from pydantic import TypeAdapter

_TOOL = Path(__file__).parent.parent / "scripts" / "asl"
_ANSWER = TypeAdapter(list[list[str]])
_QUESTION = TypeAdapter(list[str])


def asl_errors(definitions: Sequence[str]) -> list[list[str]]:
    """Return for each definition what asl-validator finds wrong with it; all in one node process.

    `node` is the one of the virtual environment; `make` installs asl-validator beside the script.
    """
    answer = subprocess.run(
        [Path(sys.executable).parent / "node", "validate.mjs"],
        cwd=_TOOL,
        input=_QUESTION.dump_json(list(definitions)),
        capture_output=True,
        check=False,
        timeout=110,
    )
    if answer.returncode:
        raise RuntimeError(f"asl-validator did not run (`make test`?): {answer.stderr.decode()}")
    return _ANSWER.validate_json(answer.stdout)


def validate_asl(definitions: Sequence[str]) -> list[str]:
    """Return what is wrong with any of the definitions, each line beginning with its position."""
    return [
        f"definition {position}: {error}"
        for position, errors in enumerate(asl_errors(definitions))
        for error in errors
    ]
