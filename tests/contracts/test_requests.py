from __future__ import annotations

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta

import pytest

from stellwerk.aws.bodies import Bodies
from stellwerk.aws.requests import DynamoCounters, DynamoRepeats
from stellwerk.aws.values import S3Values
from stellwerk.kernel.errors import Conflict
from stellwerk.kernel.ids import UserId
from stellwerk.requests.model import Answer, Repeat
from stellwerk.requests.ports import Counters, Repeats
from stellwerk.tenancy.scope import of_platform, of_run
from tests.contracts.records import SCOPE, START, STRANGERS
from tests.contracts.stores import Moto
from tests.fakes.requests import FakeCounters, FakeRepeats

USER = UserId("u-anna")


@pytest.fixture(params=["fake", "moto"])
def counters(request: pytest.FixtureRequest) -> Iterator[Counters]:
    if request.param == "fake":
        yield FakeCounters()
        return
    moto: Moto = request.getfixturevalue("moto")
    yield DynamoCounters(moto.platform())


@pytest.fixture(params=["fake", "moto"])
def repeats(request: pytest.FixtureRequest) -> Iterator[Repeats]:
    if request.param == "fake":
        yield FakeRepeats()
        return
    moto: Moto = request.getfixturevalue("moto")
    bodies = Bodies(S3Values(lambda _: moto.s3, moto.bucket()))
    yield DynamoRepeats(moto.platform(), bodies)


def repeat(key: str = "k") -> Repeat:
    return Repeat(
        user=USER,
        key=key,
        fingerprint="f",
        lease=START + timedelta(seconds=60),
        expires=START + timedelta(days=1),
    )


def test_a_window_holds_as_many_requests_as_its_limit(counters: Counters) -> None:
    scope = of_platform()
    taken = [counters.take(scope, USER, START, limit=3) for _ in range(5)]
    assert taken == [True, True, True, False, False]
    assert counters.take(scope, USER, START + timedelta(minutes=1), limit=3)
    assert counters.take(scope, UserId("u-ben"), START, limit=3)


def test_requests_at_once_are_all_counted(counters: Counters) -> None:
    scope = of_platform()
    with ThreadPoolExecutor(8) as pool:
        taken = list(pool.map(lambda _: counters.take(scope, USER, START, limit=10), range(20)))
    assert taken.count(True) == 10


def test_a_request_is_found_under_its_key(repeats: Repeats) -> None:
    assert repeats.find(SCOPE, "k") is None
    written = repeats.write(SCOPE, repeat())
    assert repeats.find(SCOPE, "k") == written
    answer = Answer(status=201, headers={"Location": "/x"}, body='{"a": "ü"}' * 40_000)
    answered = repeats.write(SCOPE, written.model_copy(update={"answer": answer}))
    assert repeats.find(SCOPE, "k") == answered
    with pytest.raises(Conflict):
        repeats.write(SCOPE, written)


def test_a_forgotten_key_is_free(repeats: Repeats) -> None:
    written = repeats.write(SCOPE, repeat())
    repeats.forget(SCOPE, written)
    repeats.forget(SCOPE, written)
    assert repeats.find(SCOPE, "k") is None
    renewed = repeats.write(SCOPE, repeat())
    later = repeats.write(SCOPE, renewed)
    repeats.forget(SCOPE, renewed)
    assert repeats.find(SCOPE, "k") == later


def test_a_key_belongs_to_its_user_and_place(repeats: Repeats) -> None:
    written = repeats.write(SCOPE, repeat())
    for stranger in (*STRANGERS, of_run("m-one", "i-one", "u-ben")):
        assert repeats.find(stranger, "k") is None
        repeats.forget(stranger, written)
        repeats.write(stranger, repeat())
    assert repeats.find(SCOPE, "k") == written
