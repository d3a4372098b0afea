"""Text with values in it."""

from __future__ import annotations

from html import escape
from typing import Literal

from pydantic import ConfigDict, Field, RootModel

from stellwerk.handlers.declare import Parameters
from stellwerk.handlers.step import step
from stellwerk.handlers.work import Work


class Template(Parameters):
    """Parameters."""

    text: str = Field(
        description="The text; expressions in double braces stand for their values",
        examples=["Dear {{ $input.name }}, your order {{ $input.number }} is on its way."],
    )
    format: Literal["text", "html_paragraphs"] = Field(
        default="text",
        description="`text` as it is; `html_paragraphs`: escaped, a paragraph per empty line",
        examples=["text"],
    )


class Text(RootModel[str]):
    """The text."""

    model_config = ConfigDict(json_schema_extra={"examples": ["Dear Anna, your order is here."]})


@step(title="Template")
def handler(parameters: Template, work: Work) -> Text:
    """Write a text with values in it."""
    if parameters.format == "text":
        return Text(parameters.text)
    paragraphs = (part.strip() for part in parameters.text.split("\n\n"))
    lines = (escape(part).replace("\n", "<br>\n") for part in paragraphs if part)
    return Text("\n".join(f"<p>{line}</p>" for line in lines))
