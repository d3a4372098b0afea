"""The truth table of access, row by row, and that it holds what it must."""

from __future__ import annotations

from itertools import combinations

import pytest

from scripts.access_page import HERE, PAGE, Case, cases, page
from stellwerk.tenancy.access import Level, Priority, Verb, decide

ALL = cases()


@pytest.mark.parametrize("case", ALL, ids=lambda case: f"{case.section}: {case.says}")
def test_the_decision_is_that_of_the_table(case: Case) -> None:
    found = decide(case.principal, case.context, case.item, case.verb, place=HERE, row=case.row)
    assert (found.allowed, found.level) == (case.allowed, case.level)
    assert case.item in found.reason
    assert (found.rule is None) == (found.role == "")


def test_every_row_says_something_else() -> None:
    assert len(ALL) >= 40
    assert len({case.says for case in ALL}) == len(ALL)


def test_every_verb_is_granted_and_denied_at_every_level() -> None:
    verbs = set(Verb) - {Verb.VIEW}
    rows = {(case.verb, case.level, case.allowed) for case in ALL if case.of}
    for verb in verbs:
        assert {(verb, level, True) for level in Level if level is not Level.NONE} <= rows
        assert {(verb, level, False) for level in Level} <= rows
    assert {(case.verb, case.allowed) for case in ALL} >= {(Verb.VIEW, True), (Verb.VIEW, False)}


def test_every_pair_of_priorities_meets_in_every_pair_of_specificities() -> None:
    met = set()
    for case in ALL:
        for high, low in combinations(sorted(case.principal.grants, key=_order), 2):
            for one in high.rules:
                for other in low.rules:
                    specificities = (
                        _kind(one.specificity(case.item)),
                        _kind(other.specificity(case.item)),
                    )
                    if high.priority != low.priority and None not in specificities:
                        met.add((high.priority, low.priority, specificities, case.allowed))
    kinds = ["exact", "prefix", "generic"]
    for high_priority, low_priority in combinations(sorted(Priority, reverse=True), 2):
        for one_kind in kinds:
            for other_kind in kinds:
                for allowed in (True, False):
                    assert (high_priority, low_priority, (one_kind, other_kind), allowed) in met


def test_the_page_shows_the_table() -> None:
    assert PAGE.read_text(encoding="utf-8") == page()


def _order(grant: object) -> int:
    return -getattr(grant, "priority", 0)


def _kind(specificity: int | None) -> str | None:
    if specificity is None:
        return None
    if specificity == 0:
        return "generic"
    return "exact" if specificity == len("data.feature.x.workflows") + 1 else "prefix"
