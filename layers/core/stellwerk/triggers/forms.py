"""Forms: from a JSON Schema to fields that people fill in, and back to data that fits it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from pydantic import BaseModel, ConfigDict, Field

from stellwerk.kernel.json import JsonObject, JsonValue
from stellwerk.triggers.wording import Language, fault_text

if TYPE_CHECKING:
    from jsonschema.exceptions import ValidationError

FieldKind = Literal[
    "text", "long", "email", "url", "date", "number", "whole", "yes", "one", "many", "file"
]
_FORMATS: Mapping[str, FieldKind] = {
    "email": "email",
    "uri": "url",
    "date": "date",
    "textarea": "long",
    "file": "file",
}
_LONG = 200
"""Characters from which a text gets several lines."""
_MOST_FAULTS = 100


class FormRules(BaseModel):
    """The parameters of a `trigger.form` that matter at its address."""

    model_config = ConfigDict(frozen=True, extra="ignore", populate_by_name=True)

    title: str = ""
    description: str = ""
    schema_: JsonObject = Field(default_factory=dict, alias="schema")
    access: Literal["public", "signed_in"] = "public"
    thanks: str = ""


@dataclass(frozen=True)
class FormField:
    """One field."""

    name: str
    label: str
    kind: FieldKind
    required: bool = False
    help: str = ""
    options: tuple[str, ...] = ()


@dataclass(frozen=True)
class FieldFault:
    """What is wrong with a field; `name` is empty for what belongs to none."""

    name: str
    message: str


def fields_of(schema: JsonObject) -> Sequence[FormField]:
    """Return the fields of an object's schema, in its order."""
    properties, required = schema.get("properties"), schema.get("required")
    needed = required if isinstance(required, list) else []
    if not isinstance(properties, dict):
        return []
    return [
        _field(name, part, required=name in needed)
        for name, part in properties.items()
        if isinstance(part, dict)
    ]


def data_of(fields: Sequence[FormField], posted: Mapping[str, JsonValue]) -> JsonObject:
    """Return the data that texts from a page stand for; what is empty is left out.

    A text that is no number stays one: the schema says so.
    """
    data: JsonObject = {}
    for field in fields:
        value = _value(field, posted.get(field.name))
        if value is not None:
            data[field.name] = value
    return data


def faults_of(schema: JsonObject, data: JsonValue, language: Language) -> Sequence[FieldFault]:
    """Return all that is wrong with data, in the order of the fields, in words of a language."""
    # jsonschema takes 90 ms to import: only forms pay for it
    from jsonschema import Draft202012Validator
    from referencing import Registry

    formats = Draft202012Validator.FORMAT_CHECKER
    validator = Draft202012Validator(schema, registry=Registry(), format_checker=formats)
    names = [field.name for field in fields_of(schema)]
    faults = [
        fault
        for error in list(validator.iter_errors(data))[:_MOST_FAULTS]
        for fault in _faults(error, language)
    ]
    order = {name: index for index, name in enumerate(names)}
    return sorted(faults, key=lambda fault: order.get(fault.name, len(order)))


def is_readable(schema: JsonObject) -> bool:
    """Say whether a schema is one."""
    from jsonschema import Draft202012Validator
    from jsonschema.exceptions import SchemaError

    try:
        Draft202012Validator.check_schema(schema)
    except SchemaError:
        return False
    return True


def _faults(error: ValidationError, language: Language) -> Iterator[FieldFault]:
    path = [str(part) for part in error.absolute_path]
    if error.validator == "required" and isinstance(error.validator_value, list):
        # there is an error for each name that is missing
        named = [name for name in error.validator_value if f"'{name}'" in error.message]
        text = fault_text("required", "", language)
        yield from (FieldFault(path[0] if path else str(name), text) for name in named)
        return
    text = fault_text(str(error.validator), _shown(error.validator_value), language)
    yield FieldFault(path[0] if path else "", text)


def _shown(value: object) -> str:
    if isinstance(value, list):
        return ", ".join(map(str, value))
    return str(value)


def _field(name: str, part: JsonObject, *, required: bool) -> FormField:
    return FormField(
        name=name,
        label=str(part.get("title") or name),
        kind=_kind(part),
        required=required,
        help=str(part.get("description") or ""),
        options=_options(part),
    )


def _kind(part: JsonObject) -> FieldKind:
    type_, format_ = part.get("type"), part.get("format")
    if isinstance(format_, str) and format_ in _FORMATS:
        return _FORMATS[format_]
    if _options(part):
        return "many" if type_ == "array" else "one"
    if type_ == "boolean":
        return "yes"
    if type_ in {"number", "integer"}:
        return "number" if type_ == "number" else "whole"
    longest = part.get("maxLength")
    return "long" if isinstance(longest, int) and longest > _LONG else "text"


def _options(part: JsonObject) -> tuple[str, ...]:
    items = part.get("items")
    holder = items if part.get("type") == "array" and isinstance(items, dict) else part
    options = holder.get("enum")
    return tuple(map(str, options)) if isinstance(options, list) else ()


def _value(field: FormField, given: JsonValue) -> JsonValue:
    if field.kind == "yes":
        return given not in (None, "")
    if given is None or given == "":
        return None
    if field.kind == "many":
        return given if isinstance(given, list) else [given]
    if isinstance(given, str) and field.kind in {"number", "whole"}:
        return _number(given)
    return given


def _number(text: str) -> JsonValue:
    plain = text.strip().replace(",", ".")
    try:
        return int(plain) if plain.lstrip("+-").isdigit() and len(plain) < 300 else _float(plain)
    except ValueError:
        return text


def _float(text: str) -> float:
    number = float(text)
    if number - number != 0:  # neither infinite nor no number
        raise ValueError(text)
    return number
