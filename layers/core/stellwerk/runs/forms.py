"""The data of a decision against the form that asked for it."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, NamedTuple

from stellwerk.kernel.errors import BadInput
from stellwerk.kernel.json import JsonObject, JsonValue

if TYPE_CHECKING:
    from jsonschema import ValidationError

_MOST = 100


class FieldFault(NamedTuple):
    """What is wrong with one field. `field` is its path, as `lines[3].amount`; "" is the whole."""

    field: str
    message: str

    @property
    def text(self) -> str:
        """The fault in one line."""
        return f"{self.field}: {self.message}" if self.field else self.message


class FormRefused(BadInput):
    """The data does not fit the form; `faults` names every field and rule, not only the first."""

    def __init__(self, faults: Sequence[FieldFault]) -> None:
        named = "; ".join(fault.text for fault in faults)
        super().__init__(f"The form refuses the data: {named}", remedy="Correct these fields.")
        self.faults = tuple(faults)


def check_form(form: JsonObject, data: JsonValue, known: Sequence[FieldFault] = ()) -> None:
    """Raise FormRefused with all faults of `data` against the JSON Schema `form`.

    Those that are `known` come first, in place of what the form says of the same things.
    Raises BadInput if the form refers to what it does not contain: nothing is ever fetched.
    """
    # jsonschema takes 90 ms to import: only a decision with a form pays for it
    from jsonschema import Draft202012Validator
    from referencing import Registry
    from referencing.exceptions import Unresolvable

    formats = Draft202012Validator.FORMAT_CHECKER
    validator = Draft202012Validator(form, registry=Registry(), format_checker=formats)
    try:
        errors = sorted(validator.iter_errors(data), key=lambda error: error.json_path)
    except Unresolvable as error:
        raise BadInput(
            f"The form refers to something that it does not contain: {error.ref}",
            remedy="The author of the workflow must correct the form.",
        ) from error
    found = [fault for error in errors for fault in _faults(error)]
    told = tuple(fault.field.rpartition(".")[0] for fault in known)
    others = [fault for fault in found if not told or not fault.field.startswith(told)]
    faults = list(dict.fromkeys([*known, *others]))
    if faults:
        raise FormRefused(faults[:_MOST])


def _faults(error: ValidationError) -> Iterator[FieldFault]:
    """Yield an error under the field that it is about: what is missing, or too much, itself."""
    place = error.json_path.removeprefix("$").removeprefix(".")
    rule, said = error.validator, error.validator_value
    if rule == "required" and isinstance(said, list) and isinstance(error.instance, dict):
        missing = [str(name) for name in said if name not in error.instance]
        for name in missing:
            yield FieldFault(_below(place, name), f"{name!r} is a required property")
    elif rule == "additionalProperties" and said is False and isinstance(error.instance, dict):
        for name in _unknown(error.schema, error.instance):
            yield FieldFault(_below(place, name), f"{name!r} is not asked for")
    else:
        yield FieldFault(place, error.message)


def _unknown(schema: object, instance: Mapping[str, object]) -> Iterator[str]:
    declared = schema if isinstance(schema, dict) else {}
    patterns = declared.get("patternProperties", {})
    for name in instance:
        told = any(re.search(pattern, name) for pattern in patterns)
        if name not in declared.get("properties", {}) and not told:
            yield name


def _below(place: str, name: str) -> str:
    return f"{place}.{name}" if place else name
