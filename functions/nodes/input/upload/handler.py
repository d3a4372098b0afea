"""Files to hand in."""

from __future__ import annotations

from pydantic import Field

from stellwerk.handlers.asking import Answered, Asking
from stellwerk.handlers.waiting import question
from stellwerk.handlers.work import Work
from stellwerk.kernel.json import JsonObject, JsonValue
from stellwerk.runs.asking import Question


class Upload(Asking):
    """Parameters."""

    types: list[str] = Field(
        default_factory=list,
        description="Content types that are accepted; all if empty",
        examples=[["application/pdf"]],
    )
    max_files: int = Field(
        default=1, ge=1, le=50, description="How many files at most", examples=[5]
    )


@question(title="Upload", ports=("submitted", "expired"), result=Answered)
def handler(parameters: Upload, work: Work) -> Question:
    """Wait until somebody hands in files: ids of the instance's; `data.files` describes them."""
    return parameters.asked("upload", ("submitted",), work, form=_form(parameters))


def _form(parameters: Upload) -> JsonObject:
    """Return the schema of the data: files by name and type, with content or a file's id."""
    kinds: list[JsonValue] = [*parameters.types]
    kind: JsonObject = {"type": "string", "minLength": 1}
    if kinds:
        kind["enum"] = kinds
    text: JsonObject = {"type": "string", "minLength": 1}
    size: JsonObject = {"type": "integer", "minimum": 0}
    fields: JsonObject = {"name": text, "type": kind, "content": text, "file": text, "size": size}
    file: JsonObject = {
        "type": "object",
        "properties": fields,
        "required": ["name", "type"],
        "oneOf": [{"required": ["content"]}, {"required": ["file"]}],
        "additionalProperties": False,
    }
    files: JsonObject = {
        "type": "array",
        "items": file,
        "minItems": 1,
        "maxItems": parameters.max_files,
    }
    return {
        "type": "object",
        "properties": {"files": files},
        "required": ["files"],
        "additionalProperties": False,
    }
