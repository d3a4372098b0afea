"""Files that come with a decision: by their id in the instance, or in the data themselves."""

from __future__ import annotations

from collections.abc import Iterator

from stellwerk.kernel.json import JsonObject, JsonValue
from stellwerk.runs.forms import FieldFault
from stellwerk.runs.platform import Uploads
from stellwerk.tenancy.scope import Scope


def handed_in(
    uploads: Uploads | None, scope: Scope, data: JsonValue
) -> tuple[JsonValue, list[FieldFault]]:
    """Return the data of an upload with what is known of its files, and what is wrong with them.

    A file is an id, or an object with `file`, its id: name, type and size become those of the
    instance's file, whatever was said. One with `content` stays as it is.
    """
    files = data.get("files") if isinstance(data, dict) else None
    if not isinstance(data, dict) or not isinstance(files, list):
        return data, []
    known = [_known(uploads, scope, file) for file in files]
    faults = list(_faults(known))
    return {**data, "files": [shown for shown, _ in known]}, faults


def _known(uploads: Uploads | None, scope: Scope, file: JsonValue) -> tuple[JsonValue, str | None]:
    """Return a file as it is handed on, and the id of one that is not there."""
    given: JsonObject = {"file": file} if isinstance(file, str) else {}
    given = file if isinstance(file, dict) else given
    named = given.get("file")
    if not isinstance(named, str):
        return file, None
    found = uploads.found(scope, named) if uploads is not None else None
    return {**given, **(found or {})}, None if found is not None else named


def _faults(known: list[tuple[JsonValue, str | None]]) -> Iterator[FieldFault]:
    for index, (_, missing) in enumerate(known):
        if missing is not None:
            message = f"there is no file '{missing[:60]}' in this instance, or not for you"
            yield FieldFault(f"files[{index}].file", message)
