"""Sizes and copies of values."""

from __future__ import annotations

from functools import lru_cache
from json import JSONEncoder
from types import SimpleNamespace

from moto.stepfunctions.parser.asl.component.state import state
from moto.stepfunctions.parser.asl.component.state.exec.state_parallel import state_parallel
from moto.stepfunctions.parser.asl.component.state.exec.state_task import (
    state_task,
    state_task_lambda,
)
from moto.stepfunctions.parser.asl.component.state.exec.state_task.service import state_task_service
from moto.stepfunctions.parser.asl.component.state.exec.state_task.state_task import StateTask
from moto.stepfunctions.parser.asl.eval import states
from moto.stepfunctions.parser.asl.eval.environment import Environment
from moto.stepfunctions.parser.asl.utils import encoding

from localcloud.patching import Mended
from localcloud.stepfunctions.failures import DATA_LIMIT, failure
from localcloud.stepfunctions.json_values import STATE_BYTES, copied, size_of

MENDED = Mended()

_AS_JSON = SimpleNamespace(deepcopy=copied)
_task_arguments = StateTask._eval_parameters


def within_quota(value: object) -> bool:
    """AWS measures compact JSON in UTF-8 and allows 262,144 bytes.

    moto counts escapes and spaces that AWS does not have.
    """
    return size_of(value) <= STATE_BYTES


for module in (state, state_task_service, state_task_lambda):
    MENDED.add(module, "is_within_size_quota", within_quota)
for module in (states, state_task_service, state_parallel):
    MENDED.add(module, "copy", _AS_JSON)
"""State values are JSON: copying them as such takes a tenth of the time."""


@lru_cache(8)
def _encoder(separators: tuple[str, str] | None) -> JSONEncoder:
    return encoding._DateTimeEncoder(separators=separators)


def json_text(
    value: object, *, cls: object = None, separators: tuple[str, str] | None = None
) -> str:
    """AWS writes data into the history as JSON; moto makes a new encoder for each text of it."""
    return _encoder(separators).encode(value)


MENDED.add(encoding, "json", SimpleNamespace(dumps=json_text))


@MENDED.of(state_task.StateTask, "_eval_parameters")
def arguments(self: StateTask, env: Environment) -> dict[str, object]:
    """AWS fails a Task whose Arguments have more than 256 KiB, and no Catch helps."""
    parameters: dict[str, object] = _task_arguments(self, env)
    if not within_quota(parameters):
        raise failure(
            env,
            DATA_LIMIT,
            f"The state/task '{self.name}' has an input with a size exceeding the maximum number "
            "of bytes service limit.",
        )
    return parameters
