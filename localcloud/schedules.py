"""EventBridge's schedules: functions that are called at a fixed rate while the cloud is up."""

from __future__ import annotations

import logging
import threading
from collections.abc import Mapping

from localcloud.lambdas import Lambdas, Result

LOG = logging.getLogger(__name__)


class Schedules:
    """Calls functions by name, each every so many seconds, the first time after that long.

    What goes wrong is logged; the next call comes all the same.
    """

    def __init__(self, lambdas: Lambdas, rates: Mapping[str, float]) -> None:
        self._lambdas = lambdas
        self._ended = threading.Event()
        self._threads = [
            threading.Thread(
                target=self._repeat, args=each, name=f"localcloud-schedule-{each[0]}", daemon=True
            )
            for each in rates.items()
        ]

    def start(self) -> None:
        """Begin to wait."""
        for thread in self._threads:
            thread.start()

    def stop(self) -> None:
        """Call nothing any more; calls that have begun are not waited for."""
        self._ended.set()
        for thread in self._threads:
            thread.join()

    def _repeat(self, name: str, seconds: float) -> None:
        while not self._ended.wait(seconds):
            self._call(name)

    def _call(self, name: str) -> None:
        try:
            self._lambdas.send(name, "{}", lambda result: _failed(name, result))
        except Exception:
            LOG.exception("function %s could not be called on its schedule", name)


def _failed(name: str, result: Result) -> None:
    LOG.error("function %s failed on its schedule: %s", name, result.payload)
