"""Dry runs of all samples: whatever comes of them, nothing outside has been written."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from stellwerk.catalogue.model import Effect, Kind
from stellwerk.catalogue.store import StoredCatalogue
from stellwerk.runs.model import RunStatus
from tests.samples.cases import Case, cases
from tests.samples.office import SCOPE, Office, opened

CATALOGUE = StoredCatalogue()


@pytest.fixture(scope="module")
def office() -> Iterator[Office]:
    with opened() as office:
        yield office


@pytest.mark.parametrize("case", list(cases()), ids=str)
def test_a_dry_run_of_a_sample_writes_nothing(office: Office, case: Case) -> None:
    view = office.dry(case)
    assert not {sent.method for sent in office.server.sent} - {"GET"}
    assert view.run.mode == "dry"
    for each in view.nodes:
        declared = CATALOGUE.find(each.step.type)
        assert declared is not None
        writes = declared.kind is Kind.STEP and declared.effect is not Effect.READ
        assert writes or not each.step.dry


def test_the_writes_of_a_sample_are_answered_with_samples(office: Office) -> None:
    view = office.dry(Case("invoice-approval", "connected"))
    told = {each.step.node: each.value for each in view.nodes if each.step.dry}
    sample = CATALOGUE.find("http.request")
    assert sample is not None
    assert told == {"book": sample.sample, "tell": sample.sample}
    assert view.run.status is RunStatus.COMPLETED


def test_what_a_dry_run_calls_runs_dry(office: Office) -> None:
    view = office.dry(Case("procurement", "approved"))
    called = [each.called for each in view.nodes if each.called]
    assert [office.services.runs.get(SCOPE, run).mode for run in called] == ["dry"]
