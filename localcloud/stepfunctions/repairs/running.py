"""Programs: a machine, a branch, an item of a Map, each run in the thread that it is given."""

from __future__ import annotations

import threading

from moto.stepfunctions.parser.asl.component.program.program import Program
from moto.stepfunctions.parser.asl.eval.environment import Environment

from localcloud.patching import Mended
from localcloud.stepfunctions.environment import of

MENDED = Mended()


@MENDED.of(Program, "eval")
def run(self: Program, env: Environment) -> None:
    """AWS has no threads to count; moto starts two for each machine, branch and item.

    A machine that was stopped before it began still has its end recorded.
    """
    frame = of(env)
    if not frame.begin(self.start_at.start_at_name) and frame.is_frame():
        return
    timer = _timer(self, env)
    try:
        self._eval_body(env)
    finally:
        if timer is not None:
            timer.cancel()


def _timer(program: Program, env: Environment) -> threading.Timer | None:
    if program.timeout_seconds is None:
        return None
    timer = threading.Timer(program.timeout_seconds.timeout_seconds, env.set_timed_out)
    timer.daemon = True
    timer.start()
    return timer
