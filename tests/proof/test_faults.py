"""Every planted fault of a compiler is caught by the comparison with the reference."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest

from stellwerk.kernel.json import dumps
from stellwerk.workflows.compile import Compiled
from tests.proof import alone
from tests.proof.alone import Case
from tests.proof.faults import Fault, faults
from tests.proof.language import Refused
from tests.proof.standin import Defect
from tests.proof.whole import catalogue
from tests.proof.world import Hang

pytestmark = pytest.mark.no_cover  # thousands of runs; the code has tests of its own
ORDERS = range(20)


def _shows(case: Case, fault: Fault) -> bool:
    machines = alone.compiled(case)
    definition = json.loads(machines.definition)
    fault.plant(definition)
    changed = replace(machines, definition=dumps(definition))
    assert changed.definition != machines.definition
    return any(_wrong(case, changed, seed) for seed in ORDERS)


def _wrong(case: Case, machines: Compiled, seed: int) -> bool:
    try:
        return bool(alone.run(case, machines, seed) or alone.run_undecided(case, machines, seed))
    except (Hang, Defect, Refused):
        return True


@pytest.mark.parametrize("fault", faults(), ids=lambda fault: fault.name)
def test_a_planted_fault_is_caught(fault: Fault) -> None:
    cases = [alone.case(drawn, catalogue()) for drawn in fault.drawn]
    for case in cases:
        machines = alone.compiled(case)
        assert not any(_wrong(case, machines, seed) for seed in ORDERS)
    assert any(_shows(case, fault) for case in cases)


def test_there_are_at_least_twenty_planted_faults() -> None:
    assert len({fault.name for fault in faults()}) >= 20


def test_a_gate_that_nobody_watches_hangs() -> None:
    case = alone.case(faults()[9].drawn[0], catalogue())
    machines = alone.compiled(case)
    assert machines.gated
    assert any(_wrong(case, replace(machines, watch={}), seed) for seed in ORDERS)
