"""The application behind API Gateway: each kind of answer, for an event as AWS sends it."""

from __future__ import annotations

import base64
import gzip
import json
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, cast

import pytest
from fastapi.testclient import TestClient

from api.handler import gateway
from stellwerk.kernel.json import JsonObject
from tests.api.world import DEMO, World

if TYPE_CHECKING:
    from mangum.types import LambdaContext

EVENTS = Path(__file__).parents[2] / "events"
Send = Callable[..., JsonObject]
CONTEXT = cast("LambdaContext", None)
"""Nothing of ours asks for it."""


@pytest.fixture
def send(one_world: World) -> Send:
    """Send an event, with words in it replaced, and return the answer."""
    handler = gateway(one_world.app)

    def sent(case: str, **words: str) -> JsonObject:
        text = (EVENTS / f"api.{case}.json").read_text(encoding="utf-8")
        for word, value in words.items():
            text = text.replace(word, value)
        answer: JsonObject = handler(json.loads(text), CONTEXT)
        json.dumps(answer)  # AWS takes nothing else
        return answer

    return sent


def body_of(answer: JsonObject) -> bytes:
    body = str(answer["body"])
    return base64.b64decode(body) if answer["isBase64Encoded"] else body.encode()


def headers_of(answer: JsonObject) -> JsonObject:
    headers = answer["headers"]
    assert isinstance(headers, dict)
    return headers


def test_json(send: Send) -> None:
    answer = send("json")
    assert (answer["statusCode"], answer["isBase64Encoded"]) == (200, False)
    assert headers_of(answer)["content-type"] == "application/json"
    assert json.loads(body_of(answer))["status"] == "ok"


def test_a_problem_is_readable_text(send: Send) -> None:
    answer = send("problem")
    assert (answer["statusCode"], answer["isBase64Encoded"]) == (404, False)
    assert headers_of(answer)["content-type"] == "application/problem+json"
    found = json.loads(body_of(answer))
    assert found["request_id"] == headers_of(answer)["x-request-id"]


def test_a_redirect_names_its_target(send: Send) -> None:
    answer = send("redirect")
    assert answer["statusCode"] == 307
    assert headers_of(answer)["location"] == "/api/v1/openapi.json"


def test_a_download_is_bytes(send: Send, anna: TestClient) -> None:
    content = bytes(range(256))
    added = anna.post(f"{DEMO}/files", files={"file": ("ä.bin", content, "application/pdf")})
    answer = send("download", FILE=added.json()["id"])
    assert (answer["statusCode"], answer["isBase64Encoded"]) == (200, True)
    assert headers_of(answer)["content-type"] == "application/pdf"
    assert headers_of(answer)["content-disposition"] == "attachment; filename*=UTF-8''%C3%A4.bin"
    assert body_of(answer) == content


def test_an_upload_arrives_byte_by_byte(send: Send, anna: TestClient) -> None:
    answer = send("upload")
    assert answer["statusCode"] == 201, answer
    file = json.loads(body_of(answer))
    assert anna.get(f"{DEMO}/files/{file['id']}/content").content == b"\x00\x01\xff"


def test_what_the_client_has_is_not_sent_again(send: Send, anna: TestClient) -> None:
    tag = anna.get(f"{DEMO}/catalogue/flow.if").headers["ETag"]
    answer = send("not_modified", TAG=tag.replace('"', '\\"'))
    assert answer["statusCode"] == 304
    assert body_of(answer) == b""
    assert headers_of(answer)["etag"] == tag


def test_a_long_answer_is_compressed(send: Send, anna: TestClient) -> None:
    answer = send("compressed")
    assert (answer["statusCode"], answer["isBase64Encoded"]) == (200, True)
    assert headers_of(answer)["content-encoding"] == "gzip"
    plain = gzip.decompress(body_of(answer))
    assert json.loads(plain) == anna.get(f"{DEMO}/catalogue").json()


def test_a_creation_is_repeated_with_its_key(send: Send) -> None:
    first, second = send("create"), send("create")
    assert first["statusCode"] == second["statusCode"] == 201
    assert first["body"] == second["body"]
    assert headers_of(second)["idempotency-replayed"] == "true"
    assert "location" in headers_of(first)
