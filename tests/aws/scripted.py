"""A DynamoDB client that answers what a test tells it to."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, cast

from botocore.exceptions import ClientError

if TYPE_CHECKING:
    from botocore.exceptions import _ClientErrorResponseTypeDef
    from mypy_boto3_dynamodb import DynamoDBClient


def refusal(code: str, *, status: int = 400, **more: object) -> ClientError:
    """Return an error of AWS; `more` is what else its answer holds."""
    response = {
        "Error": {"Code": code, "Message": f"{code} because"},
        "ResponseMetadata": {"HTTPStatusCode": status},
        **more,
    }
    return ClientError(cast("_ClientErrorResponseTypeDef", response), "Scripted")


class Scripted:
    """Answers in turn; the last answer for ever. Errors are raised."""

    def __init__(self, *answers: object) -> None:
        self.answers = list(answers)
        self.requests: list[dict[str, object]] = []

    @property
    def client(self) -> DynamoDBClient:
        """Return it as a client."""
        return cast("DynamoDBClient", self)

    def __getattr__(self, name: str) -> Callable[..., object]:
        return self._answer

    def _answer(self, **request: object) -> object:
        self.requests.append(request)
        answer = self.answers.pop(0) if len(self.answers) > 1 else self.answers[0]
        if isinstance(answer, Exception):
            raise answer
        return answer
