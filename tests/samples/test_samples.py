"""Every sample is without fault, compiles as reviewed, and runs as its cases say."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from scripts import golden
from stellwerk.catalogue.store import StoredCatalogue
from stellwerk.runs.model import StepStatus
from stellwerk.workflows.validate.validation import validate
from tests.asl import validate_asl
from tests.samples.cases import Case, cases, graph, samples
from tests.samples.office import Office, matches, opened

CASES = list(cases())


class _Published:
    """All samples are there."""

    def kind(self, wanted: str, name: str) -> str | None:
        return "workflow" if name in samples() else None


@pytest.fixture(scope="module")
def office() -> Iterator[Office]:
    with opened() as office:
        yield office


@pytest.mark.parametrize("sample", samples())
def test_a_sample_has_no_fault_and_no_warning(sample: str) -> None:
    assert validate(graph(sample), StoredCatalogue(), _Published()) == []


@pytest.mark.parametrize("sample", samples())
def test_a_sample_can_be_looked_at(sample: str) -> None:
    drawn = graph(sample)
    assert drawn.title
    assert all(node.title for node in drawn.nodes)
    places = {(node.parent, node.position.x, node.position.y) for node in drawn.nodes}
    assert len(places) == len(drawn.nodes)


def test_every_sample_is_run() -> None:
    called = {"approve-purchase"}
    assert {case.sample for case in CASES} == set(samples()) - called


@pytest.mark.parametrize("case", CASES, ids=str)
def test_a_case_ends_as_expected(office: Office, case: Case) -> None:
    expected = case.expected
    view, calls = office.run(case)
    assert (view.run.status, view.run.error) == (expected.status, None)
    assert matches(expected.output, view.output), view.output
    steps = {each.step.key.text: each for each in view.nodes}
    skipped = {key for key, each in steps.items() if each.step.status is StepStatus.SKIPPED}
    assert {key: steps[key].step.port for key in steps.keys() - skipped} == expected.ran
    assert skipped == set(expected.skipped)
    for key, value in expected.values.items():
        assert matches(value, steps[key].value), (key, steps[key].value)
    assert calls == expected.calls


def test_the_definitions_are_those_that_were_reviewed() -> None:
    assert golden.main(["--check"]) == 0


def test_the_definitions_pass_asl_validator() -> None:
    assert validate_asl(list(golden.definitions().values())) == []
