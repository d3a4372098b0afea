"""Functions are called by the clock while the cloud is up, whatever comes of it."""

from __future__ import annotations

import logging
import threading
import time
from pathlib import Path
from typing import Any

import pytest

from localcloud.cloud import LocalCloud
from localcloud.functions import ByName, Given
from localcloud.template import FILE, Template

OFTEN = {"tick": 0.02}


class Ticks:
    """Counts its calls, and fails if it is told to."""

    def __init__(self, *, failing: bool = False) -> None:
        self.number = 0
        self._failing = failing
        self._came = threading.Condition()

    def __call__(self, event: Any, context: Any) -> None:
        assert event == {}
        with self._came:
            self.number += 1
            self._came.notify_all()
        if self._failing:
            raise ConnectionError("a table does not answer")

    def wait(self, number: int) -> None:
        with self._came:
            assert self._came.wait_for(lambda: self.number >= number, timeout=10)


def test_a_function_is_called_at_its_rate_until_the_cloud_stops() -> None:
    before, ticks = set(threading.enumerate()), Ticks()
    with LocalCloud(functions=Given({"tick": ticks}, rates=OFTEN)):
        ticks.wait(3)
    assert set(threading.enumerate()) <= before
    number = ticks.number
    time.sleep(0.1)
    assert ticks.number == number


def test_a_call_that_fails_is_logged_and_the_next_one_comes(
    caplog: pytest.LogCaptureFixture,
) -> None:
    ticks = Ticks(failing=True)
    with (
        caplog.at_level(logging.ERROR),
        LocalCloud(functions=Given({"tick": ticks}, rates=OFTEN)),
    ):
        ticks.wait(3)
    assert "function tick failed on its schedule" in caplog.text
    assert "a table does not answer" in caplog.text


def test_a_function_that_is_not_there_is_logged_and_does_no_harm(
    caplog: pytest.LogCaptureFixture,
) -> None:
    ticks = Ticks()
    rates = {"gone": 0.001, **OFTEN}
    with (
        caplog.at_level(logging.ERROR),
        LocalCloud(functions=Given({"tick": ticks}, rates=rates)),
    ):
        ticks.wait(3)
    assert "function gone could not be called on its schedule" in caplog.text


def test_a_long_rate_does_not_hold_up_the_stop() -> None:
    begun = time.monotonic()
    with LocalCloud(functions=Given({"tick": Ticks()}, rates={"tick": 3600.0})):
        ticks = [one for one in threading.enumerate() if one.name == "localcloud-schedule-tick"]
        assert len(ticks) == 1
    assert time.monotonic() - begun < 10
    assert not ticks[0].is_alive()


def test_rounds_go_at_the_rate_of_the_template_with_and_without_it() -> None:
    rates = Template(FILE).rates
    assert rates == ByName().rates
    assert rates["stellwerk-system-sweeper"] == 300.0


def test_a_schedule_that_is_no_rate_is_refused(tmp_path: Path) -> None:
    text = FILE.read_text(encoding="utf-8")
    assert "rate(5 minutes)" in text
    changed = tmp_path / "template.yaml"
    changed.write_text(text.replace("rate(5 minutes)", "cron(0 7 * * ? *)"), encoding="utf-8")
    with pytest.raises(ValueError, match=r"no schedule such as 'cron\(0 7"):
        Template(changed)
