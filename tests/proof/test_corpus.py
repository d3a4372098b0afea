"""Real topologies compile, pass every check and run like the reference; cyclic ones are refused."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise

import pytest

from stellwerk.kernel.ids import NodeKey
from stellwerk.workflows.compile import CompileOptions
from stellwerk.workflows.faults import Code
from stellwerk.workflows.validate.validation import validate
from tests.asl import validate_asl
from tests.proof import alone, corpus, vocabulary, whole
from tests.proof.corpus import Shape, Variant

CHOICES = range(5)
PARTS = 4
pytestmark = [
    pytest.mark.no_cover,  # thousands of runs; the code has tests of its own
    pytest.mark.skipif(
        not corpus.FILE.exists(), reason="../shared/corpora/n8n-shapes.json is not there"
    ),
]
variants = pytest.mark.parametrize("variant", Variant, ids=lambda variant: variant.value)


class Nothing:
    """No workflows, no connections: shapes name none."""

    def kind(self, wanted: str, name: str) -> str | None:
        """Return that there is none."""


def _acyclic(part: int = 0, parts: int = 1) -> Iterator[Shape]:
    return iter([shape for shape in corpus.shapes() if not shape.cyclic][part::parts])


def _parts(variant: Variant) -> int:
    return 1 if variant is Variant.DRAWN else 4


def test_there_are_as_many_shapes_as_the_corpus_says() -> None:
    assert (len(corpus.shapes()), sum(1 for _ in _acyclic())) == (230, 203)


@variants
@pytest.mark.parametrize("part", range(PARTS))
def test_every_acyclic_shape_runs_like_the_reference(variant: Variant, part: int) -> None:
    types = whole.catalogue()
    for shape in _acyclic(part, PARTS):
        drawn = corpus.sketch(shape, variant)
        machines = alone.compiled(alone.case(drawn, types))
        for choice in CHOICES:
            case = alone.case(corpus.with_fates(drawn, choice), types)
            assert alone.run(case, machines, choice) == [], (shape.name, choice)


@variants
def test_shapes_are_published_and_run_on_the_whole_stack(variant: Variant) -> None:
    """All as drawn; of the variants, which differ little from those, every fourth."""
    types = whole.catalogue()
    for number, shape in enumerate(_acyclic(0, _parts(variant))):
        drawn = corpus.with_fates(corpus.sketch(shape, variant), number)
        assert whole.run(alone.case(drawn, types), seed=number) == [], shape.name


@variants
def test_definitions_pass_asl_validator(variant: Variant) -> None:
    """All as drawn; of the variants every fourth."""
    types = whole.catalogue()
    drawn = [corpus.sketch(shape, variant) for shape in _acyclic(0, _parts(variant))]
    cases = [alone.case(one, types) for one in drawn]
    assert validate_asl([alone.compiled(case).definition for case in cases]) == []


def test_every_cyclic_shape_is_refused_with_the_path_of_the_cycle() -> None:
    refused = [shape for shape in corpus.shapes() if shape.cyclic]
    assert len(refused) == 27
    for shape in refused:
        graph = vocabulary.graph(corpus.sketch(shape))
        faults = validate(graph, whole.catalogue(), Nothing())
        paths = [fault.example for fault in faults if fault.code is Code.CYCLE]
        assert paths, shape.name
        for path in paths:
            assert path[0] == path[-1]
            steps = pairwise(path)
            assert all(
                any(edge.target == after for edge in graph.outgoing[NodeKey(before)])
                for before, after in steps
            )


def test_few_shapes_need_a_gate_even_if_every_step_could_wait() -> None:
    """The number is in `docs/compiler.md`."""
    types = whole.catalogue()
    gated = [
        shape.name
        for shape in _acyclic()
        if alone.compiled(
            alone.case(corpus.sketch(shape), types), CompileOptions(patient=True)
        ).gated
    ]
    assert len(gated) == 3
