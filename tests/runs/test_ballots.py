"""What votes come to."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import ValidationError

from stellwerk.kernel.ids import UserId
from stellwerk.runs.ballots import Quorum, Vote, outcome, progress, voted
from tests.fakes.clock import START

YES_NO = ("approved", "rejected")
COLOURS = ("red", "green", "blue")
SHORT = {"y": "approved", "n": "rejected", "r": "red", "g": "green", "b": "blue"}


def votes(ports: str) -> list[Vote]:
    return [
        Vote(port=SHORT[one], by=UserId(f"u-{number}"), at=START)
        for number, one in enumerate(ports)
    ]


@pytest.mark.parametrize(
    ("needed", "of", "rule", "cast", "port"),
    [
        (2, 3, "rejection", "y", None),
        (2, 3, "rejection", "yy", "approved"),
        (2, 3, "rejection", "n", "rejected"),
        (2, 3, "rejection", "yn", "rejected"),
        (3, None, "rejection", "yy", None),
        (3, None, "rejection", "yyy", "approved"),
        (1, 3, "majority", "y", None),
        (1, 3, "majority", "yy", "approved"),
        (1, 3, "majority", "yn", None),
        (1, 3, "majority", "nn", "rejected"),
        (1, 4, "majority", "yynn", "rejected"),
        (1, 4, "majority", "yyn", None),
        (1, 4, "majority", "nny", None),
        (3, 3, "majority", "yn", "rejected"),
    ],
)
def test_approvals(needed: int, of: int | None, rule: str, cast: str, port: str | None) -> None:
    quorum = Quorum.model_validate({"needed": needed, "of": of, "rule": rule})
    assert outcome(quorum, YES_NO, votes(cast)) == port


@pytest.mark.parametrize(
    ("cast", "port"),
    [("r", None), ("rg", None), ("rgb", "red"), ("gg", "green"), ("bgb", "blue")],
)
def test_choices_that_agree_on_nothing_end_with_what_most_have_said(
    cast: str, port: str | None
) -> None:
    assert outcome(Quorum(needed=2, of=3), COLOURS, votes(cast)) == port


def test_without_a_quorum_the_first_vote_decides() -> None:
    assert outcome(None, YES_NO, []) is None
    assert outcome(None, YES_NO, votes("n")) == "rejected"


@given(
    st.integers(1, 6),
    st.integers(0, 5),
    st.sampled_from(["rejection", "majority"]),
    st.text("rgb", max_size=12),
)
def test_a_vote_of_all_ends_at_a_port_and_never_before_it_must(
    needed: int, more: int, rule: str, cast: str
) -> None:
    quorum = Quorum.model_validate({"needed": needed, "of": needed + more, "rule": rule})
    ended = [
        outcome(quorum, COLOURS, votes(cast[: count + 1]))
        for count in range(min(len(cast), needed + more))
    ]
    if len(cast) >= needed + more:
        assert ended[-1] in COLOURS
    for count, port in enumerate(ended, 1):
        if port is not None and cast[:count].count(port[0]) >= quorum.enough:
            assert count >= needed


def test_progress_is_that_of_the_answer_which_most_have_given() -> None:
    assert progress(None, votes("y")) == ""
    assert progress(Quorum(needed=3), []) == "0 of 3"
    assert progress(Quorum(needed=1, of=5, rule="majority"), votes("yny")) == "2 of 3"


@pytest.mark.parametrize("wrong", [{"needed": 4, "of": 3}, {"needed": 1, "rule": "majority"}])
def test_what_cannot_be_reached_is_refused(wrong: dict[str, object]) -> None:
    with pytest.raises(ValidationError):
        Quorum.model_validate(wrong)


def test_a_vote_is_that_of_who_casts_it_and_of_whom_it_is_for() -> None:
    anna, ben, eva = UserId("u-anna"), UserId("u-ben"), UserId("u-eva")
    vote = Vote(port="approved", by=anna, on_behalf_of=ben, at=START)
    assert voted([vote], frozenset({ben})) == vote
    assert voted([vote], frozenset({anna, eva})) == vote
    assert voted([vote], frozenset({eva})) is None
