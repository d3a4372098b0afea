"""What DynamoDB answers when it refuses."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from localcloud.dynamodb.values import Item


class Refusal(Exception):
    """A request that DynamoDB refuses: a code, a message and what else stands in the answer."""

    def __init__(self, code: str, message: str, **more: object) -> None:
        super().__init__(message)
        self.code = code
        self.message = message
        self.more: Mapping[str, object] = more


class Invalid(Refusal):
    """The request is malformed."""

    def __init__(self, message: str) -> None:
        super().__init__("ValidationException", message)


class Missing(Refusal):
    """There is no such table or index."""

    def __init__(self, message: str) -> None:
        super().__init__("ResourceNotFoundException", message)


class ConditionFailed(Refusal):
    """The condition of a write does not hold; `item` is what stands there, if asked for."""

    def __init__(self, item: Item | None) -> None:
        more = {} if item is None else {"Item": item}
        super().__init__(
            "ConditionalCheckFailedException", "The conditional request failed", **more
        )
        self.item = item


class Cancelled(Refusal):
    """A transaction in which at least one part does not hold."""

    def __init__(self, reasons: Sequence[Refusal | None]) -> None:
        codes = [_code(reason) for reason in reasons]
        super().__init__(
            "TransactionCanceledException",
            "Transaction cancelled, please refer cancellation reasons for specific reasons "
            f"[{', '.join(codes)}]",
            CancellationReasons=[_reason(reason) for reason in reasons],
        )


def _code(reason: Refusal | None) -> str:
    if reason is None:
        return "None"
    return "ConditionalCheckFailed" if isinstance(reason, ConditionFailed) else "ValidationError"


def _reason(reason: Refusal | None) -> dict[str, object]:
    if reason is None:
        return {"Code": "None"}
    return {"Code": _code(reason), "Message": reason.message, **reason.more}
