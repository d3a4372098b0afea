"""The local cloud fires schedules as AWS does: each time once, from when it was made."""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable, Iterator
from datetime import UTC, datetime, timedelta

import boto3
import pytest
from botocore.exceptions import ClientError

from localcloud.functions import Given
from localcloud.lambdas import ACCOUNT, REGION, Lambdas, arn
from localcloud.mocking import mocked
from localcloud.scheduler.backend import repaired
from localcloud.scheduler.expressions import InvalidExpression, read
from localcloud.scheduler.firing import LocalScheduler
from localcloud.workers import Workers
from stellwerk.triggers.schedules.expressions import expressions_of
from stellwerk.triggers.schedules.occurrences import next_times
from stellwerk.triggers.schedules.timing import read_schedule
from tests.fakes.clock import FixedClock
from tests.triggers.schedules.test_table import EXPRESSIONS

GROUP = "stellwerk-07"


class Called:
    """The function that schedules call; the first `failing` calls fail."""

    def __init__(self) -> None:
        self.events: list[object] = []
        self.failing = 0
        self._came = threading.Condition()

    def __call__(self, event: object, context: object) -> None:
        with self._came:
            self.events.append(event)
            self._came.notify_all()
            if len(self.events) <= self.failing:
                raise ConnectionError("not now")

    def wait(self, number: int) -> list[object]:
        with self._came:
            assert self._came.wait_for(lambda: len(self.events) >= number, timeout=10)
            return self.events


class Place:
    """moto's Scheduler, what fires it, and a clock."""

    def __init__(self) -> None:
        self.clock = FixedClock(datetime.now(UTC).replace(second=30, microsecond=0))
        self.called, self.workers = Called(), Workers()
        backend = repaired(ACCOUNT, REGION)
        self.client = boto3.Session("local", "local", region_name=REGION).client("scheduler")
        self.client.create_schedule_group(Name=GROUP)
        self.lambdas = Lambdas(Given({"due": self.called}), self.workers)
        self.scheduler = LocalScheduler(
            backend, self.lambdas, self.workers, self.clock.now(), now=self.clock.now
        )

    def create(self, text: str, name: str = "s", **more: object) -> None:
        self._ask(self.client.create_schedule, text, name, **more)

    def _ask(self, ask: Callable[..., object], text: str, name: str, **more: object) -> None:
        target = {
            "Arn": arn("due"),
            "RoleArn": f"arn:aws:iam::{ACCOUNT}:role/r",
            "Input": '{"at": "<aws.scheduler.scheduled-time>"}',
        }
        ask(
            GroupName=GROUP,
            Name=name,
            ScheduleExpression=text,
            FlexibleTimeWindow={"Mode": "OFF"},
            Target=target,
            **more,
        )

    def minute(self, number: int) -> dict[str, str]:
        """Return the event of a full minute, so many after the start."""
        full = self.clock.moment.replace(second=0) + timedelta(minutes=number)
        return {"at": full.isoformat().replace("+00:00", "Z")}


@pytest.fixture
def place() -> Iterator[Place]:
    with mocked("none"):
        found = Place()
        yield found
        found.scheduler.stop()
        found.workers.stop(5)


def test_a_schedule_fires_at_its_times_with_the_time_for_which_it_fires(place: Place) -> None:
    place.create("cron(* * * * ? *)")
    wanted = [place.minute(1), place.minute(2), place.minute(3)]
    assert place.scheduler.look() == 0
    place.clock.advance(minutes=1)
    assert place.scheduler.look() == 1
    assert place.scheduler.look() == 0
    place.clock.advance(minutes=2)
    assert place.scheduler.look() == 2
    assert sorted(place.called.wait(3), key=str) == wanted


def test_a_rate_counts_from_its_start(place: Place) -> None:
    start = place.clock.now().replace(second=0) + timedelta(minutes=7)
    place.create("rate(15 minutes)", StartDate=start)
    place.scheduler.look()
    place.clock.advance(minutes=6)
    assert place.scheduler.look() == 0
    place.clock.advance(minutes=16)
    assert place.scheduler.look() == 2


def test_one_that_fires_once_goes_then(place: Place) -> None:
    due = place.clock.now().replace(second=0) + timedelta(minutes=1)
    text = f"at({due.replace(tzinfo=None).isoformat()})"
    place.create(text, ActionAfterCompletion="DELETE")
    place.scheduler.look()
    place.clock.advance(minutes=1)
    assert place.scheduler.look() == 1
    with pytest.raises(ClientError, match="ResourceNotFound"):
        place.client.get_schedule(GroupName=GROUP, Name="s")
    assert place.scheduler.look() == 0


def test_one_that_was_removed_or_switched_off_does_not_fire(place: Place) -> None:
    place.create("rate(1 minute)", "gone")
    place.create("rate(1 minute)", "off", State="DISABLED")
    place.scheduler.look()
    place.client.delete_schedule(GroupName=GROUP, Name="gone")
    place.clock.advance(minutes=5)
    assert place.scheduler.look() == 0


def test_a_call_that_fails_is_tried_again(place: Place) -> None:
    place.called.failing = 1
    place.create("rate(1 hour)")
    place.clock.advance(hours=1)
    assert place.scheduler.look() == 1
    first, second = place.called.wait(2)
    assert first == second


def test_what_cannot_be_called_is_logged(place: Place, caplog: pytest.LogCaptureFixture) -> None:
    place.create("cron(0 0 * * * *)", "wrong")
    place.create("rate(1 minute)", "lost")
    group = place.client.get_schedule(GroupName=GROUP, Name="lost")
    place.client.update_schedule(
        GroupName=GROUP,
        Name="lost",
        ScheduleExpression=group["ScheduleExpression"],
        FlexibleTimeWindow={"Mode": "OFF"},
        Target={**group["Target"], "Arn": arn("nobody")},
    )
    with caplog.at_level(logging.ERROR):
        place.clock.advance(minutes=2)
        place.scheduler.look()
        place.workers.stop(5)
    assert "schedule wrong never fires" in caplog.text
    assert "schedule lost calls a function that is not there" in caplog.text


def test_the_thread_looks_by_itself(place: Place) -> None:
    place.create("rate(1 minute)")
    place.clock.advance(minutes=1)
    place.scheduler.start()
    assert len(place.called.wait(1)) == 1


def test_a_group_is_neither_missed_nor_replaced(place: Place) -> None:
    place.create("rate(1 minute)")
    with pytest.raises(ClientError, match="ConflictException"):
        place.client.create_schedule_group(Name=GROUP)
    assert place.client.get_schedule(GroupName=GROUP, Name="s")["State"] == "ENABLED"
    with pytest.raises(ClientError, match="ResourceNotFoundException"):
        place.client.create_schedule(
            GroupName="nowhere",
            Name="s",
            ScheduleExpression="rate(1 minute)",
            FlexibleTimeWindow={"Mode": "OFF"},
            Target={"Arn": arn("due"), "RoleArn": f"arn:aws:iam::{ACCOUNT}:role/r"},
        )


@pytest.mark.parametrize(
    "moment", ["2026-03-29T00:59:00", "2026-10-25T00:30:00", "2028-02-28T12:00:00"]
)
def test_expressions_are_due_when_the_product_says(moment: str) -> None:
    after = datetime.fromisoformat(moment).replace(tzinfo=UTC)
    for text in EXPRESSIONS[::3]:
        timing = read_schedule({"cron": text, "nonexistent": "skip"}).timing
        wanted = next_times(timing, after, 1)
        read_here = [read(one.text, one.zone, after) for one in expressions_of(timing)]
        due = [found for one in read_here if (found := one.after(after)) is not None]
        assert min(due) == wanted[0], text


@pytest.mark.parametrize(
    "text",
    [
        "cron(0 0 * * *)",
        "cron(0 0 * * * *)",
        "cron(0 0 ? * ? *)",
        "cron(60 0 * * ? *)",
        "cron(x 0 * * ? *)",
        "rate(1 minutes)",
        "rate(5 minute)",
        "rate(0 minutes)",
        "at(2026-12-24)",
        "every 5 minutes",
    ],
)
def test_what_aws_does_not_know_is_refused(text: str) -> None:
    with pytest.raises(InvalidExpression):
        read(text, "UTC", datetime.now(UTC))


def test_what_is_over_is_never_due() -> None:
    now = datetime.now(UTC)
    assert read("at(2020-01-01T00:00:00)", "UTC", now).after(now) is None
