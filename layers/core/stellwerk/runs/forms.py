"""The data of a decision against the form that asked for it."""

from __future__ import annotations

from stellwerk.kernel.errors import BadInput
from stellwerk.kernel.json import JsonObject, JsonValue

_MOST = 100


class FormRefused(BadInput):
    """The data does not fit the form; `faults` names every place and rule, not only the first."""

    def __init__(self, faults: tuple[str, ...]) -> None:
        super().__init__(
            "The form refuses the data: " + "; ".join(faults), remedy="Correct these fields."
        )
        self.faults = faults


def check_form(form: JsonObject, data: JsonValue) -> None:
    """Raise FormRefused with all faults of `data` against the JSON Schema `form`.

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
    if errors:
        raise FormRefused(tuple(f"{error.json_path}: {error.message}" for error in errors[:_MOST]))
