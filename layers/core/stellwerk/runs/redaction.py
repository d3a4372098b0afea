"""What must not be seen: secret parameters in snapshots and in previews."""

from __future__ import annotations

from collections.abc import Iterator

from stellwerk.kernel.json import JsonObject, JsonValue, dumps

HIDDEN = "•••"
PREVIEW_BYTES = 1000
_DEPTH = 20


def redact(value: JsonValue, schema: JsonObject) -> JsonValue:
    """Return `value` with every part hidden that its JSON Schema marks as `x-secret`."""
    return _redact(value, schema, schema)


def secrets_in(value: JsonValue, shown: JsonValue) -> tuple[str, ...]:
    """Return the texts of `value` that are hidden where `redact` has `shown`, the longest first."""
    found = {text for text in _hidden(value, shown) if len(text) > 2}
    return tuple(sorted(found, key=lambda text: (-len(text), text)))


def preview(text: str, hidden: tuple[str, ...] = ()) -> str:
    """Return at most 1 KB of the JSON `text`, without the `hidden` texts."""
    text = text[: 32 * PREVIEW_BYTES]
    for secret in hidden:
        text = text.replace(dumps(secret)[1:-1], HIDDEN)
    data = text.encode(errors="replace")
    if len(data) <= PREVIEW_BYTES:
        return text
    return data[: PREVIEW_BYTES - 3].decode(errors="ignore") + "…"


def _redact(value: JsonValue, schema: JsonObject, root: JsonObject) -> JsonValue:
    schema = _followed(schema, root)
    if schema.get("x-secret") and value is not None:
        return HIDDEN
    if isinstance(value, dict):
        return {key: _redact(item, _of_field(schema, key), root) for key, item in value.items()}
    if isinstance(value, list):
        return [_redact(item, _object(schema.get("items")), root) for item in value]
    return value


def _of_field(schema: JsonObject, name: str) -> JsonObject:
    fields = _object(schema.get("properties"))
    return _object(fields.get(name, schema.get("additionalProperties")))


def _followed(schema: JsonObject, root: JsonObject) -> JsonObject:
    """Follow a reference, and the one branch that is not null, to the schema that says more."""
    for _ in range(_DEPTH):
        ref = schema.get("$ref")
        if isinstance(ref, str):
            schema = _object(_object(root.get("$defs")).get(ref.rpartition("/")[2]))
            continue
        options = [_object(option) for option in _list(schema.get("anyOf"))]
        options = [option for option in options if option.get("type") != "null"]
        if len(options) != 1 or schema.get("x-secret"):
            break
        schema = options[0]
    return schema


def _hidden(value: JsonValue, shown: JsonValue) -> Iterator[str]:
    if shown == HIDDEN and value != HIDDEN:
        yield from _texts(value)
    elif isinstance(value, dict) and isinstance(shown, dict):
        for key, item in value.items():
            yield from _hidden(item, shown[key])
    elif isinstance(value, list) and isinstance(shown, list):
        for item, other in zip(value, shown, strict=True):
            yield from _hidden(item, other)


def _texts(value: JsonValue) -> Iterator[str]:
    if isinstance(value, dict):
        value = list(value.values())
    if isinstance(value, list):
        for item in value:
            yield from _texts(item)
    elif isinstance(value, str):
        yield value


def _object(value: JsonValue) -> JsonObject:
    return value if isinstance(value, dict) else {}


def _list(value: JsonValue) -> list[JsonValue]:
    return value if isinstance(value, list) else []
