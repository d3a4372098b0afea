"""A run started by the failure of another one."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field

from stellwerk.catalogue.model import Kind
from stellwerk.handlers.declare import Parameters, Result
from stellwerk.handlers.step import step
from stellwerk.handlers.work import Work
from stellwerk.kernel.errors import BadInput


class Watching(Parameters):
    """Parameters."""

    workflows: Annotated[list[str], Field(max_length=100)] = Field(
        default_factory=list,
        description="Whose failures count, by short name or id; none named: those of all others",
        examples=[["invoice-approval"]],
    )


class Cause(Result):
    """Why it failed."""

    type: str = Field(description="The kind of error", examples=["ServiceUnavailable"])
    message: str = Field(default="", description="What was wrong", examples=["The ERP is down."])
    node: str | None = Field(default=None, description="Where", examples=["book"])


class Failed(Result):
    """The run that failed."""

    run: str = Field(description="Its id", examples=["01kb2c3d4e5f6g7h8j9k0m1n2p"])
    workflow: str = Field(
        default="", description="Id of its workflow", examples=["01kb2c3d4e5f6g7h8j9k0m1n2a"]
    )
    slug: str = Field(default="", description="Its short name", examples=["invoice-approval"])
    title: str = Field(default="", description="Its title", examples=["Invoice approval"])
    version: int = Field(default=0, description="Number of its version", examples=[3])
    status: str = Field(default="failed", description="Always `failed`", examples=["failed"])
    trigger: str = Field(default="", description="What had started it", examples=["trigger.form"])
    error: Cause | None = Field(
        default=None,
        description="Why it failed",
        examples=[{"type": "ServiceUnavailable", "message": "The ERP is down.", "node": "book"}],
    )
    started: str = Field(
        default="", description="When it was started", examples=["2026-12-01T06:30:00.000Z"]
    )
    ended: str | None = Field(
        default=None, description="When it failed", examples=["2026-12-01T06:31:00.000Z"]
    )


@step(title="Failure of a run", kind=Kind.TRIGGER)
def handler(parameters: Watching, work: Work) -> Failed:
    """Start when a run of another workflow fails."""
    if isinstance(work.input, dict) and "run" in work.input:
        return Failed.model_validate(work.input)
    raise BadInput("This workflow starts with a run that failed.", remedy="Name it as `run`.")
