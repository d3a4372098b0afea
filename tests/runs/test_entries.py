from __future__ import annotations

from stellwerk.kernel.ids import Path
from stellwerk.runs.entries import FEW, Entries
from tests.contracts.records import RUN, SCOPE, step
from tests.fakes.journal import FakeJournal
from tests.fakes.memory import Memory


def test_few_entries_are_read_once_and_many_anew() -> None:
    journal = FakeJournal(Memory())
    journal.fill(SCOPE, RUN, [step("a"), step("b")])
    few = Entries(journal, SCOPE, RUN)
    assert len([*few]) == 2
    journal.fill(SCOPE, RUN, [step("c", Path(f"l[{number}]")) for number in range(FEW)])
    assert len([*few]) == 2
    many = Entries(journal, SCOPE, RUN)
    assert len([*many]) == FEW + 2
    journal.fill(SCOPE, RUN, [step("d")])
    assert len([*many]) == FEW + 3
