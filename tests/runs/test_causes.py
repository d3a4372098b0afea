"""Why a run ended, as people read it."""

from __future__ import annotations

import pytest

from stellwerk.kernel.ids import NodeKey, RunId
from stellwerk.runs.causes import failure_in, first_failure, from_execution
from stellwerk.runs.model import Attempt, Failure, Step, StepStatus
from stellwerk.workflows.graph import Graph, Node, OnError
from tests.fakes.clock import START

NOTHING = Graph()


@pytest.mark.parametrize(
    ("cause", "message"),
    [
        ("plain words", "plain words"),
        ('{"errorMessage": "a Lambda\'s", "errorType": "X"}', "a Lambda's"),
        ('{"type": "Forbidden", "message": "an answered token\'s"}', "an answered token's"),
        ('{"errorMessage": 5}', '{"errorMessage": 5}'),
        ("[1]", "[1]"),
        ("", "The execution ended without a reason."),
    ],
)
def test_a_cause_is_told_in_its_own_words(cause: str, message: str) -> None:
    assert from_execution("Bad", cause).message == message


def test_an_error_without_a_name_is_unknown() -> None:
    assert from_execution("", "x").type == "Unknown"


def test_a_failed_step_without_an_attempt_tells_nothing() -> None:
    step = Step(run=RunId("r"), node=NodeKey("a"), type="t", status=StepStatus.FAILED)
    assert failure_in(step) is None
    assert first_failure([step], NOTHING) is None


def test_an_uncertain_step_says_so_in_its_failure() -> None:
    error = Failure(type="EffectUncertain", message="?")
    step = Step(
        run=RunId("r"),
        node=NodeKey("a"),
        type="t",
        status=StepStatus.UNCERTAIN,
        attempts=(Attempt(started=START, error=error),),
    )
    found = first_failure([step], NOTHING)
    assert found is not None
    assert (found.uncertain, found.node) == (True, "a")


def test_what_failed_in_a_loop_that_handled_it_did_not_fail_the_run() -> None:
    error = Failure(type="Bad", message="inner")
    attempts = (Attempt(started=START, ended=START, error=error),)
    failed = {"run": RunId("r"), "type": "t", "status": StepStatus.FAILED, "attempts": attempts}
    inner = Step.model_validate({**failed, "path": "a[0].b[1]", "node": "in"})
    loop = Step.model_validate({**failed, "path": "a[0]", "node": "b", "port": "error"})
    nodes = ({"key": "a"}, {"key": "b", "parent": "a"}, {"key": "in", "parent": "b"})
    loops = Graph(nodes=tuple(Node.model_validate({**node, "type": "t"}) for node in nodes))
    assert first_failure([inner], loops) is not None
    assert first_failure([inner, loop], loops) is None


def test_an_error_that_its_node_handles_is_not_the_runs_even_before_that_is_journaled() -> None:
    node = Node(key=NodeKey("a"), type="t", on_error=OnError.BRANCH)
    attempts = (Attempt(started=START, ended=START, error=Failure(type="Bad", message="?")),)
    step = Step(
        run=RunId("r"), node=node.key, type="t", status=StepStatus.FAILED, attempts=attempts
    )
    assert first_failure([step], Graph(nodes=(node,))) is None


@pytest.mark.parametrize(
    "loop",
    [
        Node(key=NodeKey("b"), type="t", on_error=OnError.BRANCH),
        Node(key=NodeKey("b"), type="t", parameters={"on_item_error": "collect"}),
    ],
)
def test_an_error_that_a_loop_around_handles_is_not_the_runs_even_before_that_is_journaled(
    loop: Node,
) -> None:
    attempts = (Attempt(started=START, ended=START, error=Failure(type="Bad", message="?")),)
    failed = {"run": RunId("r"), "type": "t", "status": StepStatus.FAILED, "attempts": attempts}
    inner = Step.model_validate({**failed, "path": "a[0].b[1]", "node": "in"})
    outer = Node(key=NodeKey("a"), type="t")
    assert first_failure([inner], Graph(nodes=(outer, loop))) is None
    plain = loop.model_copy(update={"on_error": OnError.FAIL, "parameters": {}})
    assert first_failure([inner], Graph(nodes=(outer, plain))) is not None
