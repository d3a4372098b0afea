"""The API of a deployment, as the command line speaks to it; problems become our errors again."""

from __future__ import annotations

import json
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from typing import Protocol
from urllib.parse import urlsplit

import httpx2
from pydantic import BaseModel, ConfigDict, ValidationError

from stellwerk.kernel.errors import (
    BadInput,
    Conflict,
    Forbidden,
    NotFound,
    RateLimited,
    ServiceUnavailable,
    StellwerkError,
    Unauthenticated,
)
from stellwerk.kernel.json import JsonObject, JsonValue

Parameter = str | int | Sequence[str] | None
SECONDS = 30.0
"""How long an answer may take; API Gateway waits no longer either."""
TRIES = 4
LONGEST_PAUSE = 30.0
"""Seconds to wait at most before asking again, whatever the API asks for."""
_LOOPBACK = {"127.0.0.1", "::1", "localhost"}
_KINDS: Mapping[int, type[StellwerkError]] = {
    401: Unauthenticated,
    403: Forbidden,
    404: NotFound,
    409: Conflict,
    412: Conflict,
    429: RateLimited,
    503: ServiceUnavailable,
}


class Pass(Protocol):
    """Whoever signed in: the access token that requests carry."""

    def token(self, *, renew: bool = False) -> str:
        """Return the token, a new one if `renew`; raises Unauthenticated."""


class _Fault(BaseModel):
    model_config = ConfigDict(extra="ignore")

    message: str
    node: str | None = None
    place: str | None = None

    @property
    def text(self) -> str:
        where = self.node or self.place
        return f"{where}: {self.message}" if where else self.message


class _Problem(BaseModel):
    """An answer that refuses, as the API writes it (RFC 9457)."""

    model_config = ConfigDict(extra="ignore")

    detail: str
    remedy: str = ""
    faults: list[_Fault] = []


class Answer:
    """What the API answered to a request that it granted."""

    def __init__(self, answer: httpx2.Response) -> None:
        self._answer = answer

    @property
    def text(self) -> str:
        """The body."""
        return self._answer.text

    @property
    def tag(self) -> str:
        """The version of what was answered, for If-Match."""
        return self._answer.headers.get("etag", "")

    @property
    def object(self) -> JsonObject:
        """The body as a JSON object; raises ServiceUnavailable where it is none."""
        found = _parsed(self._answer)
        if not isinstance(found, dict):
            raise ServiceUnavailable(f"{self._answer.url} does not answer as our API does")
        return found


class Api:
    """Sends requests below `/api/v1` of an address."""

    def __init__(self, address: str, signed_in: Pass | None = None) -> None:
        self.address = normal(address)
        self._pass = signed_in
        self._client = httpx2.Client(base_url=f"{self.address}/api/v1", timeout=SECONDS)

    def __enter__(self) -> Api:
        return self

    def __exit__(self, *raised: object) -> None:
        self._client.close()

    def get(self, path: str, params: Mapping[str, Parameter] | None = None) -> Answer:
        """Return what is at a path; parameters that are None are left out."""
        given = {name: value for name, value in (params or {}).items() if value is not None}
        return self._send("GET", path, params=given)

    @contextmanager
    def stream(self, path: str, params: Mapping[str, str | int]) -> Iterator[Iterator[str] | None]:
        """Read the lines of an answer as they come; None if there are none and none will come.

        Raises ServiceUnavailable, also in the middle, where the connection breaks.
        """
        request = self._client.build_request("GET", path, params=params)
        self._sign(request, renew=False)
        try:
            answer = self._client.send(request, stream=True)
            with closing(answer):
                if not answer.is_success:
                    answer.read()
                    raise _error(answer)
                yield None if answer.status_code == 204 else answer.iter_lines()
        except httpx2.HTTPError as error:
            raise self._silent(error) from error

    def post(self, path: str, body: JsonValue = None, *, match: str = "", key: str = "") -> Answer:
        """Post a body, under the version `match`; `key` makes a creation happen once."""
        return self._send("POST", path, body, _conditions(match, key))

    def put(self, path: str, body: JsonValue, *, match: str = "") -> Answer:
        """Put a body in place of the version `match`."""
        return self._send("PUT", path, body, _conditions(match))

    def delete(self, path: str) -> Answer:
        """Remove what is at a path."""
        return self._send("DELETE", path)

    def _send(
        self,
        method: str,
        path: str,
        body: JsonValue = None,
        headers: Mapping[str, str] | None = None,
        *,
        params: Mapping[str, str | int | Sequence[str]] | None = None,
    ) -> Answer:
        """Send a request: again with a new token after 401, and after the pause that a 429 asks."""
        request = self._client.build_request(
            method,
            path,
            params=params,
            content=None if method == "GET" else json.dumps(body),
            headers={"Content-Type": "application/json", **(headers or {})},
        )
        renewed = False
        for _ in range(TRIES):
            self._sign(request, renew=renewed)
            answer = self._answered(request)
            if answer.is_success:
                return Answer(answer)
            if answer.status_code == 429:
                time.sleep(_pause(answer))
            elif answer.status_code == 401 and self._pass is not None and not renewed:
                renewed = True
            else:
                break
        raise _error(answer)

    def _sign(self, request: httpx2.Request, *, renew: bool) -> None:
        if self._pass is not None:
            request.headers["Authorization"] = f"Bearer {self._pass.token(renew=renew)}"

    def _answered(self, request: httpx2.Request) -> httpx2.Response:
        try:
            return self._client.send(request)
        except httpx2.HTTPError as error:
            raise self._silent(error) from error

    def _silent(self, error: Exception) -> ServiceUnavailable:
        return ServiceUnavailable(
            f"{self.address} does not answer: {type(error).__name__}",
            remedy="Is the address right, and the deployment up?",
        )


def normal(address: str) -> str:
    """Return the address of an API without path; raises BadInput.

    Tokens go over https, or stay on this machine.
    """
    parts = urlsplit(address if "//" in address else f"https://{address}")
    safe = parts.scheme == "https" or (parts.scheme == "http" and parts.hostname in _LOOPBACK)
    if not safe or not parts.hostname or parts.username is not None:
        raise BadInput(
            f"'{address}' is no address of an API.",
            remedy="Write https://HOST, or http://127.0.0.1:PORT for a local cloud.",
        )
    return f"{parts.scheme}://{parts.netloc}"


def _conditions(match: str, key: str = "") -> dict[str, str]:
    named = {"If-Match": match, "Idempotency-Key": key}
    return {name: value for name, value in named.items() if value}


def _pause(answer: httpx2.Response) -> float:
    asked = answer.headers.get("retry-after", "")
    return min(float(asked) if asked.isdigit() else 1.0, LONGEST_PAUSE)


def _parsed(answer: httpx2.Response) -> JsonValue:
    try:
        found: JsonValue = answer.json()
    except ValueError:
        return None
    return found


def _error(answer: httpx2.Response) -> StellwerkError:
    """Return what a refusal says, as the error that it was before it became an answer."""
    status = answer.status_code
    kind = _KINDS.get(status, BadInput if status < 500 else ServiceUnavailable)
    try:
        problem = _Problem.model_validate(_parsed(answer))
    except ValidationError:
        return kind(f"{answer.url} answers {status} {answer.reason_phrase}")
    lines = [problem.detail, *(f"- {fault.text}" for fault in problem.faults)]
    remedy = "Sign in by `stellwerk login`." if status == 401 else problem.remedy
    return kind("\n".join(lines), remedy=remedy)
