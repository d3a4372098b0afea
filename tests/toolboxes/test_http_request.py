"""`http.request` against a server on loopback that the operator has allowed."""

from __future__ import annotations

import time
from collections.abc import Iterator

import pytest

from stellwerk.kernel.errors import (
    ConnectionRejected,
    EffectUncertain,
    Forbidden,
    InvalidParameters,
    InvalidResult,
    NotFound,
    PermanentError,
    RateLimited,
    ServiceUnavailable,
    StellwerkError,
    TransientError,
)
from stellwerk.kernel.json import JsonObject, JsonValue
from stellwerk.runs.model import StepStatus
from tests.handlers.floor import Floor, single
from tests.secrets.vault import seeded
from tests.toolboxes.server import Server, running
from toolboxes.http import toolbox

KEY = seeded("api-key")


@pytest.fixture(scope="module")
def server() -> Iterator[Server]:
    with running() as found:
        yield found


@pytest.fixture
def floor(server: Server) -> Floor:
    server.sent.clear()
    return Floor(http_allow=(server.place,))


def request(floor: Floor, server: Server, path: str, **parameters: JsonValue) -> JsonObject:
    single(floor, "http.request", None, url=server.url(path), **parameters)
    value = floor.value("node")
    assert isinstance(value, dict)
    return value


def test_a_reply_is_read_as_its_type_says(floor: Floor, server: Server) -> None:
    reply = request(floor, server, "/orders", query={"page": 2, "tag": ["a", "b"], "no": None})
    assert reply["status"] == 200
    body = {"method": "GET", "path": "/orders?page=2&tag=a&tag=b", "body": ""}
    assert reply["body"] == body
    assert request(Floor(http_allow=floor.http_allow), server, "/text")["body"] == "grüezi"


@pytest.mark.parametrize(
    ("kind", "body", "sent", "type_"),
    [
        ("json", {"a": [1, None]}, b'{"a":[1,null]}', "application/json"),
        ("text", "grüezi", "grüezi".encode(), "text/plain; charset=utf-8"),
        ("form", {"a": "x y", "b": 2}, b"a=x+y&b=2", "application/x-www-form-urlencoded"),
    ],
)
def test_a_body_is_sent_as_its_kind_says(
    floor: Floor, server: Server, kind: str, body: JsonValue, sent: bytes, type_: str
) -> None:
    request(floor, server, "/echo", method="POST", body=body, body_type=kind)
    assert server.sent[-1].body == sent
    assert server.sent[-1].headers["content-type"] == type_


def test_bytes_come_in_base_64(floor: Floor, server: Server) -> None:
    assert request(floor, server, "/text", expect="bytes")["body"] == "Z3L8ZXpp"


def test_packed_replies_are_unpacked_and_measured_unpacked(floor: Floor, server: Server) -> None:
    assert request(floor, server, "/gzip/1000")["body"] == "x" * 1000
    with pytest.raises(PermanentError, match="more than 1000 bytes"):
        request(Floor(http_allow=floor.http_allow), server, "/gzip/50000000", max_bytes=1000)


@pytest.mark.parametrize("path", ["/large/1073741824", "/endless"])
def test_a_gibibyte_is_never_read(floor: Floor, server: Server, path: str) -> None:
    with pytest.raises(PermanentError, match="more than 100000 bytes"):
        request(floor, server, path, max_bytes=100_000)


@pytest.mark.parametrize("path", ["/silent", "/drip"])
def test_a_target_that_never_answers_ends_by_the_deadline(
    floor: Floor, server: Server, path: str
) -> None:
    began = time.monotonic()
    with pytest.raises(ServiceUnavailable, match="GET"):
        request(floor, server, path, timeout=0.3)
    assert time.monotonic() - began < 3


@pytest.mark.parametrize("path", ["/silent", "/hangup"])
def test_a_write_without_a_reply_is_uncertain(floor: Floor, server: Server, path: str) -> None:
    with pytest.raises(EffectUncertain):
        request(floor, server, path, method="POST", timeout=0.3)
    assert floor.step("node").status is StepStatus.UNCERTAIN
    with pytest.raises(EffectUncertain):
        floor.call("node")
    assert len(server.sent) == 1


def test_a_key_that_the_service_knows_makes_a_write_repeatable(
    floor: Floor, server: Server
) -> None:
    with pytest.raises(ServiceUnavailable):
        request(floor, server, "/hangup", method="POST", idempotency_header="Idempotency-Key")
    assert floor.step("node").status is StepStatus.RUNNING
    with pytest.raises(ServiceUnavailable):
        floor.call("node")
    keys = {sent.headers["idempotency-key"] for sent in server.sent}
    assert len(server.sent) == 2
    assert len(keys) == 1


@pytest.mark.parametrize(
    ("status", "method", "error"),
    [
        (400, "GET", PermanentError),
        (401, "GET", ConnectionRejected),
        (403, "GET", Forbidden),
        (404, "GET", NotFound),
        (429, "POST", RateLimited),
        (500, "GET", TransientError),
        (500, "POST", PermanentError),
        (502, "POST", EffectUncertain),
        (503, "POST", ServiceUnavailable),
    ],
)
def test_a_status_is_an_error_with_a_name(
    floor: Floor, server: Server, status: int, method: str, error: type[StellwerkError]
) -> None:
    with pytest.raises(error) as caught:
        request(floor, server, f"/status/{status}", method=method)
    assert type(caught.value) is error
    assert f"status {status}" in caught.value.message


def test_a_service_that_asks_for_a_pause_gets_it(floor: Floor, server: Server) -> None:
    with pytest.raises(RateLimited):
        request(floor, server, "/status/429")
    with pytest.raises(TransientError, match="at work") as caught:
        floor.call("node")
    assert caught.value.retry_after == 7
    assert len(server.sent) == 1
    floor.clock.advance(seconds=8)
    with pytest.raises(RateLimited):
        floor.call("node")
    assert len(server.sent) == 2


def test_a_status_is_a_value_where_that_is_wanted(floor: Floor, server: Server) -> None:
    assert request(floor, server, "/status/404", fail_on_status=False)["status"] == 404


def test_what_is_no_json_is_said_to_be_none(floor: Floor, server: Server) -> None:
    with pytest.raises(InvalidResult, match="no JSON"):
        request(floor, server, "/text", expect="json")


def test_redirects_are_followed_as_browsers_do(floor: Floor, server: Server) -> None:
    reply = request(floor, server, "/to/303/echo", method="POST", body={"a": 1})
    assert reply["body"] == {"method": "GET", "path": "/echo", "body": ""}
    assert reply["url"] == server.url("/echo")
    other = Floor(http_allow=floor.http_allow)
    reply = request(other, server, "/to/307/echo", method="POST", body={"a": 1})
    assert reply["body"] == {"method": "POST", "path": "/echo", "body": '{"a":1}'}


def test_redirects_end(floor: Floor, server: Server) -> None:
    with pytest.raises(PermanentError, match="redirects more than 5 times"):
        request(floor, server, "/loop")
    other = Floor(http_allow=floor.http_allow)
    assert request(other, server, "/loop", follow_redirects=False)["status"] == 302


def test_a_redirect_to_a_private_address_is_refused(floor: Floor, server: Server) -> None:
    with pytest.raises(Forbidden, match=r"169\.254\.169\.254"):
        request(floor, server, "/private")


def test_secrets_do_not_follow_a_redirect_to_another_service(server: Server) -> None:
    floor = Floor(http_allow=(server.place, f"localhost:{server.port}"))
    server.sent.clear()
    request(floor, server, "/elsewhere", secret_headers={"authorization": f"Bearer {KEY}"})
    assert server.sent[0].headers["authorization"] == f"Bearer {KEY}"
    assert "authorization" not in server.sent[1].headers


@pytest.mark.parametrize(
    "url",
    [
        "http://127.0.0.1/",
        "http://2130706433/",
        "http://[::1]/",
        "http://[::ffff:10.0.0.1]/",
        "http://10.0.0.1/",
        "http://169.254.169.254/",
        "http://0.0.0.0/",
        "http://224.0.0.1/",
        "http://100.64.0.1/",
        "http://localhost/",
    ],
)
def test_private_addresses_are_refused(url: str) -> None:
    floor = Floor()
    with pytest.raises(Forbidden, match="not a public address"):
        single(floor, "http.request", url=url)


def test_an_allowed_place_is_a_host_and_a_port(server: Server) -> None:
    floor = Floor(http_allow=("127.0.0.1:1",))
    with pytest.raises(Forbidden):
        single(floor, "http.request", url=server.url("/echo"))


@pytest.mark.parametrize(
    "url",
    [
        "http://user:secret@example.com/",
        "ftp://example.com/",
        "http:///path",
        "http://exa mple.com/",
        "http://example.com/\r\nx: y",
        "http://example.com:99999/",
        "http://[::1",
    ],
)
def test_urls_that_mislead_are_refused(url: str) -> None:
    with pytest.raises(InvalidParameters, match="url"):
        single(Floor(), "http.request", url=url)


@pytest.mark.parametrize(
    "headers",
    [{"x": "a\r\nb: c"}, {"x y": "a"}, {"": "a"}, {"Host": "other"}, {"x": "☃"}],
)
def test_headers_that_cannot_be_sent_are_refused(
    floor: Floor, server: Server, headers: JsonValue
) -> None:
    with pytest.raises(InvalidParameters, match="headers"):
        request(floor, server, "/echo", headers=headers)
    assert not server.sent


def test_a_name_that_does_not_resolve_and_a_closed_port_are_worth_a_retry() -> None:
    with pytest.raises(ServiceUnavailable, match="cannot be resolved"):
        single(Floor(), "http.request", url="http://nothing.invalid/", method="POST")
    floor = Floor(http_allow=("127.0.0.1:9",))
    with pytest.raises(ServiceUnavailable, match="cannot be reached"):
        single(floor, "http.request", url="http://127.0.0.1:9/", method="POST")
    assert floor.step("node").status is StepStatus.RUNNING


def test_tls_where_there_is_none_is_said(floor: Floor, server: Server) -> None:
    with pytest.raises(ServiceUnavailable, match="does not speak TLS"):
        single(floor, "http.request", url=f"https://{server.place}/")


def test_secret_headers_are_hidden_in_the_journal(floor: Floor, server: Server) -> None:
    request(floor, server, "/echo", secret_headers={"x-api-key": KEY})
    assert server.sent[-1].headers["x-api-key"] == KEY
    assert KEY not in str(floor.input("node"))


def test_the_box_names_itself() -> None:
    assert (toolbox.TITLE, toolbox.CONNECTION) == ("HTTP", None)
    assert toolbox.ICON
