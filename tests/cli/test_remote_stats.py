"""`watch` and `stats` at an API."""

from __future__ import annotations

import json
import threading

from tests.cli.test_remote import Terminal, anna, api, part

__all__ = ["anna", "api"]


def test_a_run_is_watched_while_it_waits_and_goes_on(anna: Terminal, payment: str) -> None:
    started = anna("run", payment, "--input", '{"amount": 5000}', "--json")
    run = str(started.data["id"])
    cancel = threading.Timer(0.5, lambda: anna("cancel", run))
    cancel.start()
    answer = anna("watch", run, "--json")
    cancel.join()
    events = [json.loads(line) for line in answer.shown.splitlines()]
    assert [event["seq"] for event in events] == [*range(1, len(events) + 1)]
    assert (events[-1]["kind"], answer.code) == ("run.cancelled", 1)
    assert anna("watch", "nowhere").code == 3


def test_stats_are_those_of_the_api(anna: Terminal, payment: str) -> None:
    anna("run", payment, "--input", '{"amount": 5}', "--json")
    answer = anna("stats", "--workflow", "payment", "--json")
    assert answer.code == 0, answer.shown
    assert part(answer.data, "total", "completed") == 1
    assert "p95" in anna("stats").shown
