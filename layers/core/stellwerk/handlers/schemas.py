"""JSON Schemas that authors write: checked themselves, and values checked against them.

Only nodes that need it import this module, because jsonschema takes its time.
"""

from __future__ import annotations

from collections.abc import Mapping

from jsonschema import Draft202012Validator
from jsonschema.exceptions import SchemaError, ValidationError
from referencing import Registry

from stellwerk.kernel.errors import BadInput, InvalidParameters
from stellwerk.kernel.json import JsonObject, JsonValue

_MOST = 100
_NO_DOCUMENTS: Registry[bool | Mapping[str, object]] = Registry()
"""A reference to another document is an error: nothing is ever fetched."""


def checked_schema(schema: JsonObject, *, parameter: str) -> JsonObject:
    """Return `schema`; raise InvalidParameters, naming `parameter`, if it is no JSON Schema."""
    try:
        Draft202012Validator.check_schema(schema)
    except SchemaError as error:
        raise InvalidParameters(
            f"Parameter {parameter} is no JSON Schema: {error.json_path}: {error.message}",
            remedy="Correct it: JSON Schema, draft 2020-12.",
        ) from None
    return schema


def faults_of(value: JsonValue, schema: JsonObject) -> list[JsonObject]:
    """Return every fault of `value` against `schema`, in order: `path`, `rule` and `message`."""
    formats = Draft202012Validator.FORMAT_CHECKER
    validator = Draft202012Validator(schema, registry=_NO_DOCUMENTS, format_checker=formats)
    errors = sorted(validator.iter_errors(value), key=lambda error: (error.json_path, str(error)))
    return [_fault(error) for error in errors[:_MOST]]


def check_payload(value: JsonValue, schema: JsonObject | None) -> None:
    """Raise BadInput, naming every fault, if `value` does not fit `schema`."""
    if not schema:
        return
    faults = faults_of(value, checked_schema(schema, parameter="schema"))
    if faults:
        listed = "; ".join(f"{fault['path']}: {fault['message']}" for fault in faults)
        raise BadInput(
            f"The payload does not fit the trigger's schema: {listed}",
            remedy="Start the run with a payload that fits.",
        )


def _fault(error: ValidationError) -> JsonObject:
    return {"path": error.json_path, "rule": str(error.validator), "message": error.message}
