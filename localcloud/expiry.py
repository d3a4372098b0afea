"""DynamoDB's time to live: items whose moment is over go, some minutes later.

On AWS that takes hours or days; nothing may rely on it.
"""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Callable, Sequence

from localcloud.dynamodb.engine import Engine
from stellwerk.aws.tables import TTL_ATTRIBUTE

LOG = logging.getLogger(__name__)
PAUSE = 120.0
"""Seconds between two looks."""


class Expiry:
    """Looks through tables again and again while the cloud is up."""

    def __init__(
        self,
        engine: Engine,
        tables: Sequence[str],
        *,
        pause: float = PAUSE,
        clock: Callable[[], float] = time.time,
    ) -> None:
        self._engine = engine
        self._tables = tables
        self._pause = pause
        self._clock = clock
        self._ended = threading.Event()
        self._thread = threading.Thread(target=self._repeat, name="localcloud-expiry", daemon=True)

    def start(self) -> None:
        """Begin to wait."""
        self._thread.start()

    def stop(self) -> None:
        """Look no more."""
        self._ended.set()
        self._thread.join()

    def look(self) -> int:
        """Remove what is over; return how many items that were."""
        now = self._clock()
        return sum(self._engine.expire(table, TTL_ATTRIBUTE, now) for table in self._tables)

    def _repeat(self) -> None:
        while not self._ended.wait(self._pause):
            try:
                self.look()
            except Exception:
                LOG.exception("items whose time is over could not be removed")
