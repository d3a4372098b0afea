"""One of several answers."""

from __future__ import annotations

from pydantic import Field

from stellwerk.handlers.asking import Answered, Asking
from stellwerk.handlers.declare import Parameters
from stellwerk.handlers.waiting import question
from stellwerk.handlers.work import Work
from stellwerk.runs.asking import Question


class Option(Parameters):
    """One answer."""

    port: str = Field(
        pattern=r"^[a-z][a-z0-9_]{0,39}$", description="Its port", examples=["refund"]
    )
    title: str = Field(
        default="", description="What people read; the port if empty", examples=["Refund"]
    )


class Choice(Asking):
    """Parameters."""

    options: list[Option] = Field(
        min_length=1,
        max_length=20,
        description="The answers, in the order in which they are shown",
        examples=[[{"port": "refund", "title": "Refund"}, {"port": "replace"}]],
    )


@question(title="Choice", ports=("expired",), ports_from="options", result=Answered)
def handler(parameters: Choice, work: Work) -> Question:
    """Wait until somebody chooses one of several answers, each with its own port."""
    ports = tuple(dict.fromkeys(option.port for option in parameters.options))
    titles = {option.port: option.title or option.port for option in parameters.options}
    return parameters.asked("choice", ports, work, value={**titles})
