"""What moto 5.2.5's interpreter does otherwise than AWS, mended: one module for each concern.

`ALL` lists every repair. The docstring of a replacement says what AWS does.
"""

from __future__ import annotations

from localcloud.patching import Repair
from localcloud.stepfunctions.repairs import (
    api,
    branching,
    choosing,
    evaluating,
    failing,
    invoking,
    measuring,
    parsing,
    running,
    states,
    waiting,
)

ALL: tuple[Repair, ...] = tuple(
    repair
    for module in (
        api,
        branching,
        choosing,
        evaluating,
        failing,
        invoking,
        measuring,
        parsing,
        running,
        states,
        waiting,
    )
    for repair in module.MENDED.repairs
)
