"""What AWS answers becomes our errors, here and nowhere else.

A store wraps its calls in `translated()`. A write whose condition did not hold raises `Refused`,
which keeps the items as they stand: a store can say who was first without reading again.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TypeAlias

from botocore.exceptions import ClientError, ConnectionError, HTTPClientError
from pydantic import BaseModel, ConfigDict, Field

from stellwerk.kernel.errors import (
    BadInput,
    Conflict,
    Forbidden,
    NotFound,
    PermanentError,
    RateLimited,
    ServiceUnavailable,
    StellwerkError,
)

RawItem: TypeAlias = Mapping[str, Mapping[str, object]]
"""An item as DynamoDB writes it: each attribute an object of its type's letter and its value."""


@dataclass(frozen=True)
class Reason:
    """Why one write of a transaction was refused; `failed` is False for its innocent neighbours."""

    failed: bool
    item: RawItem | None


class Refused(Conflict):
    """The condition of a write did not hold. One reason per write, in order.

    Stores turn it into a Conflict or NotFound that says more: it is theirs alone.
    """

    def __init__(self, reasons: tuple[Reason, ...]) -> None:
        super().__init__(
            "the stored item has changed meanwhile", remedy="Read it again and repeat the change."
        )
        self.reasons = reasons


class Contended(ServiceUnavailable):
    """Another write to the same item was in flight; nothing happened.

    Stays inside `items`: what leaves is called by a name that Step Functions knows to retry.
    """


class _Reason(BaseModel):
    model_config = ConfigDict(extra="ignore")

    code: str = Field(default="None", alias="Code")
    item: RawItem | None = Field(default=None, alias="Item")


class _Answer(BaseModel):
    """The parts of an error's answer that only DynamoDB has."""

    model_config = ConfigDict(extra="ignore")

    reasons: tuple[_Reason, ...] = Field(default=(), alias="CancellationReasons")
    item: RawItem | None = Field(default=None, alias="Item")


_CONTENDED = {"TransactionConflictException", "TransactionInProgressException"}
_THROTTLED = {
    "ProvisionedThroughputExceeded",
    "ProvisionedThroughputExceededException",
    "RequestLimitExceeded",
    "SlowDown",
    "ThrottlingError",
    "ThrottlingException",
    "TooManyRequestsException",
}
_MISSING = {
    "404",
    "ExecutionDoesNotExist",
    "NoSuchBucket",
    "NoSuchKey",
    "ResourceNotFoundException",
    "StateMachineDoesNotExist",
}
_DENIED = {"AccessDenied", "AccessDeniedException", "UnrecognizedClientException"}
_MALFORMED = {"InvalidArn", "InvalidName", "ValidationException", "ValidationError"}


class translated:
    """Runs the block; an error of AWS or of the way to it leaves as one of ours."""

    def __enter__(self) -> None:
        """Begin."""

    def __exit__(self, kind: object, error: BaseException | None, trace: object) -> None:
        """Raise ours from an error of AWS."""
        if isinstance(error, ClientError):
            raise _named(error) from error
        if isinstance(error, ConnectionError | HTTPClientError):
            raise ServiceUnavailable(f"AWS cannot be reached: {error}") from error


def code_of(error: ClientError) -> str:
    """Return the name that AWS gave the error."""
    return error.response.get("Error", {}).get("Code", "")


def _named(error: ClientError) -> StellwerkError:
    code = code_of(error)
    answer = _Answer.model_validate(error.response)
    if code == "ConditionalCheckFailedException":
        return Refused((Reason(True, answer.item),))
    if code == "TransactionCanceledException":
        return _cancelled(error, answer)
    return _by_code(code, error)


def _cancelled(error: ClientError, answer: _Answer) -> StellwerkError:
    codes = [reason.code for reason in answer.reasons]
    if "ConditionalCheckFailed" in codes:
        return Refused(
            tuple(
                Reason(reason.code == "ConditionalCheckFailed", reason.item)
                for reason in answer.reasons
            )
        )
    if "TransactionConflict" in codes:
        return Contended(f"other writes to the same items were in flight: {error}")
    return _by_code(next((code for code in codes if code != "None"), ""), error)


def _by_code(code: str, error: ClientError) -> StellwerkError:
    message = f"{error.operation_name}: {error.response.get('Error', {}).get('Message', code)}"
    status = error.response.get("ResponseMetadata", {}).get("HTTPStatusCode", 0)
    if code in _CONTENDED:
        return Contended(message)
    if code in _THROTTLED or status == 429:
        return RateLimited(message)
    if code in _MISSING:
        return NotFound(message)
    if code in _DENIED:
        return Forbidden(message, remedy="The deployment's roles lack a permission.")
    if code in _MALFORMED:
        return BadInput(message)
    if status >= 500:
        return ServiceUnavailable(message)
    return PermanentError(f"{message} ({code})")
