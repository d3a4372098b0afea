"""What all questions to people share: who is asked, how, until when; and how they are answered."""

from __future__ import annotations

from typing import Literal

from pydantic import Field, ValidationError

from stellwerk.handlers.declare import Parameters, Result
from stellwerk.handlers.moments import moment_of, offset_of
from stellwerk.handlers.work import Work
from stellwerk.kernel.errors import InvalidParameters
from stellwerk.kernel.json import JsonObject, JsonValue
from stellwerk.runs.asking import Question
from stellwerk.runs.ballots import MOST, Quorum


class Agreement(Parameters):
    """How many people must answer alike."""

    needed: int = Field(ge=1, le=MOST, description="How many equal answers decide", examples=[2])
    of: int | None = Field(
        default=None,
        ge=1,
        le=MOST,
        description="How many people answer at most; needed for `majority`. When all have answered "
        "and nothing has won, the outcome is `rejected`, or what most have said",
        examples=[3],
    )
    rule: Literal["rejection", "majority"] = Field(
        default="rejection",
        description="`rejection`: a single `rejected` decides as well; `majority`: it takes more "
        "than half of `of`",
        examples=["majority"],
    )


class Escalating(Parameters):
    """Who is asked as well when nobody answers."""

    after: str = Field(
        description="When: a duration after the question is asked (`P2D`), or before it is due "
        "(`-PT4H`)",
        examples=["P2D"],
    )
    to: list[str] = Field(
        min_length=1,
        max_length=20,
        description="Who, as in `assignees`: they are asked beside those",
        examples=[["role:management"]],
    )


class Asking(Parameters):
    """Parameters of every question."""

    assignees: list[str] = Field(
        min_length=1,
        max_length=40,
        description="Who may answer: users (`user:anna`), roles (`role:finance`), everyone of the "
        "instance (`*`), and where the mandate allows guests, addresses "
        "(`mail:eva@muster.example`) to which a link is sent",
        examples=[["role:finance"]],
    )
    title: str = Field(
        default="",
        max_length=200,
        description="The question in one line; the node's title if empty",
        examples=["Approve invoice 4711?"],
    )
    description: str = Field(
        default="",
        max_length=20_000,
        description="What whoever answers must know, in Markdown",
        examples=["Supplier **Muster AG**, CHF 1250.00"],
    )
    due: str | None = Field(
        default=None,
        description="Until when: a duration (ISO 8601) or a moment with its time zone; "
        "365 days if empty",
        examples=["P3D", "2026-12-24T18:00:00+01:00"],
    )
    on_expire: Literal["cancel", "default"] = Field(
        default="cancel",
        description="Unanswered in time: cancel the run, or go on at port `expired`",
        examples=["default"],
    )
    default: JsonValue = Field(
        default=None,
        description="The data at port `expired` where `on_expire` is `default`",
        examples=[{"reason": "nobody answered"}],
    )

    quorum: Agreement | None = Field(
        default=None,
        description="How many must answer alike, one answer each; one answer decides if empty",
        examples=[{"needed": 2, "of": 3}],
    )
    four_eyes: bool = Field(
        default=False,
        description="Whoever has started the run, or the one that called it, must not answer, nor "
        "may a deputy for that person",
        examples=[True],
    )
    reminders: list[str] = Field(
        default_factory=list,
        max_length=10,
        description="When those are reminded who have not answered: durations after the question "
        "is asked (`P1D`), or before it is due (`-PT4H`)",
        examples=[["P1D", "-PT4H"]],
    )
    escalate: Escalating | None = Field(
        default=None,
        description="Who is asked as well when nobody has answered for some time",
        examples=[{"after": "P2D", "to": ["role:management"]}],
    )

    def asked(
        self,
        kind: str,
        ports: tuple[str, ...],
        work: Work,
        *,
        form: JsonObject | None = None,
        value: JsonValue = None,
    ) -> Question:
        """Return the question of that kind, whose answers are `ports`."""
        now = work.execution.site.now
        return Question(
            kind=kind,
            title=self.title or work.title,
            description=self.description,
            assignees=tuple(self.assignees),
            ports=ports,
            form=form,
            value=value,
            due=None if self.due is None else moment_of(self.due, now),
            on_expire=self.on_expire,
            default=self.default,
            quorum=self._quorum(),
            four_eyes=self.four_eyes,
            reminders=tuple(offset_of(text) for text in self.reminders),
            escalate_after=offset_of(self.escalate.after) if self.escalate else None,
            escalate_to=tuple(self.escalate.to) if self.escalate else (),
        )

    def _quorum(self) -> Quorum | None:
        if self.quorum is None:
            return None
        try:
            return Quorum.model_validate(self.quorum.model_dump())
        except ValidationError as error:
            wrong = error.errors()[0]["msg"].removeprefix("Value error, ")
            raise InvalidParameters(
                f"The quorum cannot be: {wrong}.",
                remedy="Correct `needed`, `of` and `rule`.",
            ) from error


class CastVote(Result):
    """One of several answers."""

    port: str = Field(description="What was chosen", examples=["approved"])
    data: JsonValue = Field(default=None, description="What was handed in", examples=[None])
    comment: str = Field(default="", description="What was said to it", examples=["as agreed"])
    by: str = Field(description="Who answered", examples=["anna"])
    on_behalf_of: str | None = Field(
        default=None, description="For whom, where a deputy answered", examples=["ben"]
    )
    at: str = Field(description="When, in UTC", examples=["2026-12-01T10:00:00.000Z"])


class Answered(Result):
    """How a question was answered, by whom and when."""

    decision: str = Field(description="The port that was chosen", examples=["approved"])
    data: JsonValue = Field(
        default=None,
        description="What was handed in with it; at port `expired` the default",
        examples=[{"comment": "as agreed"}],
    )
    by: str | None = Field(
        default=None,
        description="Who answered; of several the last one; a guest as `mail:` and the address",
        examples=["anna"],
    )
    at: str = Field(description="When, in UTC", examples=["2026-12-01T10:00:00.000Z"])
    on_behalf_of: str | None = Field(
        default=None, description="For whom, where a deputy answered", examples=["ben"]
    )
    comment: str = Field(default="", description="What was said to it", examples=["as agreed"])
    votes: list[CastVote] = Field(
        default_factory=list,
        description="All answers in their order, where there is a quorum",
        examples=[[]],
    )
