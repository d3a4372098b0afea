"""A run started by a file."""

from __future__ import annotations

from pydantic import Field

from stellwerk.catalogue.model import Kind
from stellwerk.handlers.declare import Parameters, Result
from stellwerk.handlers.step import step
from stellwerk.handlers.work import Work
from stellwerk.kernel.errors import BadInput


class Waiting(Parameters):
    """Parameters."""

    prefix: str = Field(
        default="", max_length=200, description="How the name begins", examples=["invoice-"]
    )
    pattern: str = Field(
        default="*",
        min_length=1,
        max_length=200,
        description="What the name looks like: * any characters, ? one, [ab] one of these",
        examples=["*.pdf"],
    )


class Stored(Result):
    """The file."""

    file: str | None = Field(
        default=None,
        description="Its id; null for an object that somebody else has put into the bucket",
        examples=["01kb2c3d4e5f6g7h8j9k0m1n2p"],
    )
    name: str = Field(description="Its name", examples=["invoice-4711.pdf"])
    type: str = Field(default="", description="Its media type", examples=["application/pdf"])
    size: int = Field(default=0, description="Bytes", examples=[48211])
    key: str = Field(
        default="",
        description="Where it lies in the bucket",
        examples=["m-demo/i-demo/files/01kb2c3d4e5f6g7h8j9k0m1n2p"],
    )
    version: str = Field(default="", description="Of the object", examples=["3sL4kqtJlcpXroDTDmJ"])


@step(title="File", kind=Kind.TRIGGER)
def handler(parameters: Waiting, work: Work) -> Stored:
    """Start when a file is stored whose name fits."""
    if isinstance(work.input, dict) and "name" in work.input:
        return Stored.model_validate(work.input)
    raise BadInput(
        "This workflow starts with a file.", remedy='Hand over its name: {"name": "invoice.pdf"}.'
    )
