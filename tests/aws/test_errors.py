from __future__ import annotations

import pytest
from botocore.exceptions import EndpointConnectionError, ReadTimeoutError

from stellwerk.aws.errors import Contended, Reason, Refused, translated
from stellwerk.kernel.errors import (
    BadInput,
    Conflict,
    Forbidden,
    NotFound,
    PermanentError,
    RateLimited,
    ServiceUnavailable,
    TransientError,
)
from tests.aws.scripted import refusal


def raised(error: Exception) -> Exception:
    with pytest.raises(Exception) as found, translated():
        raise error
    return found.value


@pytest.mark.parametrize(
    ("code", "status", "expected"),
    [
        ("ThrottlingException", 400, RateLimited),
        ("ProvisionedThroughputExceededException", 400, RateLimited),
        ("SlowDown", 503, RateLimited),
        ("Anything", 429, RateLimited),
        ("InternalServerError", 500, ServiceUnavailable),
        ("Anything", 503, ServiceUnavailable),
        ("TransactionConflictException", 400, Contended),
        ("TransactionInProgressException", 400, Contended),
        ("ResourceNotFoundException", 400, NotFound),
        ("NoSuchKey", 404, NotFound),
        ("ExecutionDoesNotExist", 400, NotFound),
        ("AccessDeniedException", 400, Forbidden),
        ("ValidationException", 400, BadInput),
        ("Anything", 400, PermanentError),
    ],
)
def test_each_answer_has_its_error(code: str, status: int, expected: type[Exception]) -> None:
    found = raised(refusal(code, status=status))
    assert type(found) is expected
    assert "because" in str(found)


@pytest.mark.parametrize(
    "error",
    [
        EndpointConnectionError(endpoint_url="http://nowhere"),
        ReadTimeoutError(endpoint_url="http://nowhere"),
    ],
)
def test_what_cannot_be_reached_is_not_available(error: Exception) -> None:
    assert isinstance(raised(error), ServiceUnavailable)


def test_a_refused_write_keeps_the_item_that_stands_in_its_way() -> None:
    item = {"pk": {"S": "a"}, "revision": {"N": "3"}}
    found = raised(refusal("ConditionalCheckFailedException", Item=item))
    assert isinstance(found, Refused)
    assert isinstance(found, Conflict)
    assert found.reasons == (Reason(True, item),)


def test_a_cancelled_transaction_tells_which_write_was_refused() -> None:
    reasons = [
        {"Code": "None"},
        {"Code": "ConditionalCheckFailed", "Item": {"pk": {"S": "a"}}},
        {"Code": "TransactionConflict"},
    ]
    found = raised(refusal("TransactionCanceledException", CancellationReasons=reasons))
    assert isinstance(found, Refused)
    assert [reason.failed for reason in found.reasons] == [False, True, False]
    assert found.reasons[1].item == {"pk": {"S": "a"}}


@pytest.mark.parametrize(
    ("code", "expected"),
    [
        ("TransactionConflict", Contended),
        ("ThrottlingError", RateLimited),
        ("ProvisionedThroughputExceeded", RateLimited),
        ("ValidationError", BadInput),
    ],
)
def test_a_transaction_cancelled_for_another_cause_says_so(
    code: str, expected: type[Exception]
) -> None:
    reasons = [{"Code": "None"}, {"Code": code}]
    assert type(raised(refusal("TransactionCanceledException", CancellationReasons=reasons))) is (
        expected
    )


def test_contention_may_be_tried_again() -> None:
    assert issubclass(Contended, TransientError)


def test_other_errors_pass_through() -> None:
    assert isinstance(raised(KeyError("mine")), KeyError)
