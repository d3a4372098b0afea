"""Wait states."""

from __future__ import annotations

import re
from datetime import UTC, datetime

from moto.stepfunctions.parser.asl.component.state.wait.wait_function.timestamp import Timestamp
from moto.stepfunctions.parser.asl.component.state.wait.wait_function.wait_function import (
    WaitFunction,
)
from moto.stepfunctions.parser.asl.eval.environment import Environment

from localcloud.patching import Mended
from localcloud.stepfunctions.environment import of
from localcloud.stepfunctions.failures import RUNTIME, failure

MENDED = Mended()

_TIMESTAMP = re.compile(r"\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}(\.\d+)?(Z|[+-]\d{2}:\d{2})")


@MENDED.of(WaitFunction, "_eval_body")
def wait(self: WaitFunction, env: Environment) -> None:
    """AWS waits without cost, ends the wait when the execution is stopped, and leaves on time.

    moto may miss the moment of the stop, and counts in whole seconds.
    """
    of(env).pause(self._get_wait_seconds(env=env))


@MENDED.of(Timestamp, "_get_wait_seconds")
def seconds_until(self: Timestamp, env: Environment) -> float:
    """AWS waits until the moment named, in any offset; a past moment does not wait.

    moto takes the moment for local time and drops its fraction.
    """
    self.string.eval(env=env)
    text = env.stack.pop()
    moment = _parsed(text)
    if moment is None:
        raise failure(
            env,
            RUNTIME,
            "The Timestamp parameter does not reference a valid ISO-8601 extended offset "
            f"date-time format string: {text!r}",
        )
    return (moment - datetime.now(UTC)).total_seconds()


def _parsed(text: object) -> datetime | None:
    if not isinstance(text, str) or not _TIMESTAMP.fullmatch(text):
        return None
    try:
        return datetime.fromisoformat(text)
    except ValueError:
        return None
