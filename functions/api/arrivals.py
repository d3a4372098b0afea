"""Bodies that strangers send: JSON, forms, forms with files, anything else."""

from __future__ import annotations

import base64
import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from urllib.parse import parse_qsl

from fastapi import Request
from pydantic import ValidationError
from starlette.datastructures import UploadFile
from starlette.exceptions import HTTPException

from api.models.base import Body
from stellwerk.files.service import LARGEST, FileService, TooLarge
from stellwerk.kernel.errors import BadInput
from stellwerk.kernel.json import JsonObject, JsonValue
from stellwerk.tenancy.scope import Scope
from stellwerk.triggers.proofs import Incoming

MOST_FILES, MOST_FIELDS = 20, 1000


class _Plain(Body):
    """JSON that can be stored."""

    body: JsonValue


@dataclass(frozen=True)
class Sent:
    """A file that came along, not kept yet."""

    place: str
    name: str
    type: str
    content: bytes = field(repr=False)


@dataclass
class Arrival:
    """A request and its body; `read` comes after the request was found to be genuine."""

    request: Request
    incoming: Incoming
    fields: JsonValue = None
    files: list[Sent] = field(default_factory=list)

    @property
    def _type(self) -> str:
        return self.incoming.headers.get("content-type", "").partition(";")[0].strip().lower()

    async def read(self) -> JsonValue:
        """Return the body as its media type says, without the files in it; raises BadInput."""
        body, kind = self.incoming.body, self._type
        if kind == "multipart/form-data":
            self.fields = await self._parts()
        elif kind == "application/x-www-form-urlencoded":
            self.fields = _form(body)
        elif kind == "application/json" or kind.endswith("+json"):
            self.fields = _json(body)
        else:
            self.fields = _raw(body)
        return self.fields

    def kept(self, service: FileService, scope: Callable[[], Scope]) -> JsonValue:
        """Keep the files, and return the body with what is known of each in its place."""
        if not self.files or not isinstance(self.fields, dict):
            return self.fields
        owner, values = scope(), dict(self.fields)
        for sent in self.files:
            added = service.add(owner, sent.name or "file", sent.content, type=sent.type)
            about: JsonObject = {
                "file": added.id,
                "name": added.name,
                "type": added.type,
                "size": added.size,
            }
            _put(values, sent.place, about)
        return values

    async def _parts(self) -> JsonObject:
        values: JsonObject = {}
        try:
            form = await self.request.form(
                max_files=MOST_FILES, max_fields=MOST_FIELDS, max_part_size=LARGEST
            )
        except HTTPException as error:
            raise BadInput(
                f"The form cannot be read: {error.detail}",
                remedy=f"Send multipart/form-data with up to {MOST_FILES} files.",
            ) from error
        for name, value in form.multi_items():
            if isinstance(value, UploadFile):
                content = await value.read()
                type_ = value.content_type or ""
                if content or value.filename:
                    self.files.append(Sent(name, value.filename or "", type_, content))
            else:
                _put(values, name, value)
        await form.close()
        return values


async def arrived(request: Request) -> Arrival:
    """Return the request with its body; raises TooLarge beyond 4 MiB."""
    too_large = TooLarge(
        f"A delivery may have {LARGEST} bytes.",
        remedy="Upload the file first (POST .../files with a token), and send its id.",
    )
    try:
        body = await request.body()
    except HTTPException as error:
        raise too_large from error
    if len(body) > LARGEST:
        raise too_large
    headers: Mapping[str, str] = {name.lower(): value for name, value in request.headers.items()}
    incoming = Incoming(body, headers, dict(request.query_params), request.method)
    return Arrival(request, incoming)


def _put(values: JsonObject, name: str, value: JsonValue) -> None:
    """Set a field; one that comes again becomes a list."""
    if name not in values:
        values[name] = value
        return
    before = values[name]
    values[name] = [*(before if isinstance(before, list) else [before]), value]


def _json(body: bytes) -> JsonValue:
    if not body:
        return None
    try:
        return _Plain(body=json.loads(body)).body
    except (ValueError, ValidationError, RecursionError) as error:
        raise BadInput(
            "The body is said to be JSON, and is none that can be kept.",
            remedy="Send JSON in UTF-8, or another Content-Type.",
        ) from error


def _form(body: bytes) -> JsonObject:
    values: JsonObject = {}
    try:
        pairs = parse_qsl(
            body.decode(), keep_blank_values=True, max_num_fields=MOST_FIELDS, errors="strict"
        )
    except ValueError as error:
        raise BadInput("The form cannot be read.", remedy="Send it in UTF-8.") from error
    for name, value in pairs:
        _put(values, name, value)
    return values


def _raw(body: bytes) -> JsonValue:
    """Return text as it is, other bytes in base 64."""
    if not body:
        return None
    try:
        return body.decode()
    except UnicodeDecodeError:
        return {"base64": base64.b64encode(body).decode()}
