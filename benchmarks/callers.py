"""Callers of a webhook, in a process of their own: so that they take no time from who answers.

`python -m benchmarks.callers URL CALLERS DELIVERIES REPEATS PER_SECOND` writes, as JSON, for each
answer the delivery's number, its status, its run, and how many ms it took. PER_SECOND 0: everybody
sends as soon as there is an answer.
"""

from __future__ import annotations

import json
import random
import subprocess
import sys
import threading
import time
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from http.client import HTTPConnection
from pathlib import Path
from urllib.parse import urlsplit

_SEED = 20261201
_ROUND = time.time_ns()
"""Keeps the deliveries of one process apart from those of another."""


@dataclass(frozen=True)
class Taken:
    """An answer to a delivery."""

    delivery: int
    status: int
    run: str
    ms: float


def called(
    url: str, *, callers: int, deliveries: int, repeats: float, per_second: float = 0.0
) -> Sequence[Taken]:
    """Deliver from another process; the share `repeats` of the deliveries comes again."""
    numbers = [str(each) for each in (callers, deliveries, repeats, per_second)]
    command = [sys.executable, "-m", "benchmarks.callers", url, *numbers]
    root = Path(__file__).parents[1]
    done = subprocess.run(command, capture_output=True, check=True, text=True, cwd=root)
    return [Taken(**each) for each in json.loads(done.stdout)]


def _plan(deliveries: int, repeats: float) -> list[int]:
    """Return numbers of deliveries as they are sent, shuffled so that repeats meet their firsts."""
    chance = random.Random(_SEED)
    again = int(deliveries * repeats)
    firsts = list(range(deliveries - again))
    planned = firsts + chance.choices(firsts, k=again)
    # a repeat comes soon after: its sender had no answer in time
    planned.sort(key=lambda number: number + chance.uniform(0, 20))
    return planned


def _deliver(url: str, callers: int, planned: Sequence[int], per_second: float) -> list[Taken]:
    waiting: Iterator[tuple[int, int]] = iter([*enumerate(planned)])
    lock, taken = threading.Lock(), list[Taken]()
    begun = time.perf_counter()

    def call() -> None:
        where = urlsplit(url)
        connection = HTTPConnection(str(where.hostname), where.port, timeout=60)
        while True:
            with lock:
                place, number = next(waiting, (-1, -1))
            if place < 0:
                return
            if per_second:
                time.sleep(max(0.0, begun + place / per_second - time.perf_counter()))
            answer = _one(connection, where.path, number)
            with lock:
                taken.append(answer)

    threads = [threading.Thread(target=call) for _ in range(callers)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return taken


def _one(connection: HTTPConnection, path: str, number: int) -> Taken:
    headers = {"Content-Type": "application/json", "Idempotency-Key": f"{_ROUND}-{number}"}
    start = time.perf_counter()
    connection.request("POST", path, json.dumps({"number": number}).encode(), headers)
    answer = connection.getresponse()
    read = json.loads(answer.read())
    ms = (time.perf_counter() - start) * 1000
    return Taken(number, answer.status, str(read.get("run", read)), ms)


if __name__ == "__main__":
    _url, _callers, _deliveries, _repeats, _per_second = sys.argv[1:]
    _planned = _plan(int(_deliveries), float(_repeats))
    _taken = _deliver(_url, int(_callers), _planned, float(_per_second))
    sys.stdout.write(json.dumps([asdict(each) for each in _taken]))
