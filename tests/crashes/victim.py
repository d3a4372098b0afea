"""A process that handles one invocation and ends, as by kill -9, at a chosen call to AWS.

`victim.py ENDPOINT HTTP_ALLOW HANDLER EVENT NTH before|after`; prints how many calls it made, if
it survives.
"""

from __future__ import annotations

import importlib
import json
import os
import sys
from collections.abc import Callable

from localcloud.clients import BotoClients
from stellwerk.bootstrap import build, services
from stellwerk.config import Settings


class Counter:
    """Counts calls to AWS and ends the process at the chosen one."""

    def __init__(self, nth: int, *, after: bool) -> None:
        self.calls = 0
        self._nth = nth
        self._after = after

    def call(self, method: Callable[..., object], given: dict[str, object]) -> object:
        self.calls += 1
        last = self.calls == self._nth
        if last and not self._after:
            os._exit(9)
        answer = method(**given)
        if last:
            os._exit(9)
        return answer


class Mortal:
    """An AWS client, each call of which may be the last."""

    def __init__(self, client: object, counter: Counter) -> None:
        self._client = client
        self._counter = counter

    def __getattr__(self, name: str) -> Callable[..., object]:
        method: Callable[..., object] = getattr(self._client, name)
        return lambda **given: self._counter.call(method, given)


class MortalClients:
    """All clients, with one counter."""

    def __init__(self, endpoint: str, counter: Counter) -> None:
        clients = BotoClients(endpoint)
        self.dynamodb = Mortal(clients.dynamodb, counter)
        self.s3 = Mortal(clients.s3, counter)
        self.stepfunctions = Mortal(clients.stepfunctions, counter)


class Context:
    """What Lambda tells a handler about its invocation."""

    aws_request_id = "victim"
    function_name = "victim"
    memory_limit_in_mb = 512

    def get_remaining_time_in_millis(self) -> int:
        return 60_000


def main() -> None:
    endpoint, allowed, handler, event, nth, when = sys.argv[1:]
    counter = Counter(int(nth), after=when == "after")
    settings = Settings.of({"STELLWERK_HTTP_ALLOW": allowed})
    clients = MortalClients(endpoint, counter)
    services.provide(lambda: build(settings, clients))  # type: ignore[arg-type]
    entry = importlib.import_module(handler).handler
    entry(json.loads(event), Context())
    sys.stdout.write(str(counter.calls))


if __name__ == "__main__":
    main()
