"""Two thirds of the time that moto's interpreter takes to import, saved.

Its task for AWS Batch imports moto's Batch for one enumeration, and with it moto's EC2. No machine
of ours uses Batch.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from enum import Enum
from types import ModuleType

_BATCH = "moto.batch"


class JobStatus(Enum):
    """The states of a Batch job that the interpreter asks for."""

    SUCCEEDED = "SUCCEEDED"
    FAILED = "FAILED"


@contextmanager
def without_batch() -> Iterator[None]:
    """Let imports in the block find an empty `moto.batch`, unless the real one is there already."""
    if _BATCH in sys.modules:
        yield
        return
    package, utils = ModuleType(_BATCH), ModuleType(f"{_BATCH}.utils")
    package.__path__ = []
    vars(utils)["JobStatus"] = JobStatus
    standing_in = {_BATCH: package, f"{_BATCH}.utils": utils}
    sys.modules.update(standing_in)
    try:
        yield
    finally:
        for name in standing_in:
            sys.modules.pop(name, None)
