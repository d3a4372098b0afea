"""The same steps as long as a condition holds."""

from __future__ import annotations

from pydantic import Field

from stellwerk.handlers.declare import Parameters, Result
from stellwerk.handlers.looping import repeat
from stellwerk.handlers.work import Work
from stellwerk.kernel.errors import InvalidParameters
from stellwerk.kernel.json import JsonValue


class While(Parameters):
    """Parameters."""

    condition: str = Field(
        min_length=1,
        description="JSONata, evaluated before each pass: `$input` is the value that the pass "
        "would be given, `$index` its number from 0",
        examples=["$input.next != null"],
        json_schema_extra={"x-raw": True},
    )
    max_passes: int = Field(
        default=100, ge=1, le=100_000, description="More passes are an error", examples=[20]
    )


class Repeated(Result):
    """What the passes have come to."""

    value: JsonValue = Field(
        description="The value of the last pass; the loop's input if there was none",
        examples=[{"page": 3, "next": None}],
    )
    passes: int = Field(description="How many passes there were", examples=[3])


def _most(parameters: While) -> int:
    return parameters.max_passes


@repeat(title="While", result=Repeated, most=_most)
def handler(parameters: While, work: Work, /, *, value: JsonValue, index: int) -> bool:
    """Repeat the steps inside as long as a condition holds."""
    holds = work.evaluator.given(parameters.condition, "condition", given=value, index=index)
    if not isinstance(holds, bool):
        raise InvalidParameters(
            f"Node {work.node}, parameter condition: gives {holds!r:.80}, not true or false.",
            remedy="Compare with something, such as $input.count < 3.",
        )
    return holds
