"""Draws many workflows, compares each with the reference, and writes the one that fails to a
file.
"""

from __future__ import annotations

import json
import shlex
from collections import Counter
from collections.abc import Callable
from pathlib import Path as File

from hypothesis import HealthCheck, given, seed, settings
from hypothesis import strategies as st

from stellwerk.kernel.ids import ROOT
from stellwerk.kernel.json import JsonValue
from stellwerk.workflows.compile.refusals import OverBudget
from stellwerk.workflows.faults import Code, InvalidGraph
from tests.proof import alone, whole
from tests.proof.alone import Case
from tests.proof.scheduler import StateFailed
from tests.proof.sketch import Drawn, Sketch
from tests.proof.standin import Defect
from tests.proof.strategies import constructs, sketches
from tests.proof.vocabulary import decision, payload
from tests.proof.world import Hang

FOLDER = File(__file__).parents[2] / "build" / "disagreements"
Compare = Callable[[Case, int, Counter[str]], list[str]]
"""Runs a workflow in the order that a number gives; returns what was wrong, and counts."""


class Disagreement(AssertionError):
    """The machine did what the reference does not allow."""


def explore(
    compare: Compare, *, graphs: int, start: int, name: str, folder: File = FOLDER
) -> Counter[str]:
    """Compare so many workflows, always the same for one `start`; return how often was what.

    Raises:
        Disagreement: with the file of the smallest workflow that shows it.
    """
    types = whole.catalogue()
    found: Counter[str] = Counter()

    @seed(start)
    @settings(
        max_examples=graphs,
        deadline=None,
        database=None,
        suppress_health_check=list(HealthCheck),
        report_multiple_bugs=False,
    )
    @given(sketches(), st.integers(0, 1_000_000))
    def one(drawn: Sketch, order: int) -> None:
        case = alone.case(drawn, types)
        found.update({"graphs": 1, **constructs(drawn)})
        found["completed" if case.expected.completed else "failed"] += 1
        found["ambiguous"] += case.expected.ambiguous
        _check(case, order, compare, found, folder / name)

    one()
    return found


def _check(case: Case, order: int, compare: Compare, found: Counter[str], file: File) -> None:
    try:
        wrong = compare(case, order, found)
    except OverBudget:
        found["over budget"] += 1
        return
    except InvalidGraph as invalid:
        if {fault.code for fault in invalid.faults} != {Code.BUDGET_EXCEEDED}:
            raise Disagreement(f"{_written(case, file)}\n{invalid}") from invalid
        found["over budget"] += 1
        return
    except (Hang, Defect, StateFailed) as error:
        wrong = [f"{type(error).__name__}: {error}"]
    if wrong:
        report = f"{_written(case, file)}\norder {order}: " + "\n".join(wrong)
        file.with_suffix(".txt").write_text(report + "\n", encoding="utf-8")
        raise Disagreement(report)


def _written(case: Case, file: File) -> str:
    """Write the workflow with its input; return the command that runs it."""
    file.parent.mkdir(parents=True, exist_ok=True)
    graph, data = file.with_suffix(".json"), file.with_suffix(".input.json")
    _write(graph, case.graph.model_dump(mode="json", by_alias=True, exclude_defaults=True))
    _write(data, payload(case.drawn))
    asked = [item.key for item in case.drawn.items if item.kind is Drawn.APPROVAL]
    decisions = [f"{key}={decision(case.drawn, key, ROOT)}" for key in asked]
    decide = [word for decided in decisions for word in ("--decide", decided)]
    start = ["--trigger", case.drawn.start]
    return shlex.join(["stellwerk", "run", str(graph), "--input", f"@{data}", *start, *decide])


def _write(file: File, value: JsonValue) -> None:
    file.write_text(json.dumps(value, indent=1) + "\n")
