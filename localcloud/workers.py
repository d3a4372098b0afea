"""Threads that are used again: an execution, a branch or a Lambda costs no new thread each."""

from __future__ import annotations

import logging
import threading
import time
from collections import deque
from collections.abc import Callable

LOG = logging.getLogger(__name__)
IDLE_SECONDS = 5.0
"""How long a thread without work stays."""
IDLE_THREADS = 16
"""How many threads without work stay."""

Job = Callable[[], object]


class _Worker:
    """One thread with a mailbox for one job; None ends it."""

    def __init__(self, pool: Workers) -> None:
        self._pool = pool
        self._job: Job | None = None
        self._due = threading.Lock()
        self._due.acquire()
        self.thread = threading.Thread(target=self._loop, name="localcloud", daemon=True)

    def give(self, job: Job | None) -> None:
        self._job = job
        self._due.release()

    def _loop(self) -> None:
        while self._next():
            job, self._job = self._job, None
            if job is None:
                return
            _guarded(job)
            if not self._pool.idle(self):
                return

    def _next(self) -> bool:
        if self._due.acquire(timeout=IDLE_SECONDS):
            return True
        return not self._pool.retire(self) and self._due.acquire()


class Workers:
    """Runs jobs at once, each in its own thread, idle ones first."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._idle: deque[_Worker] = deque()
        self._threads: set[threading.Thread] = set()
        self._stopped = False

    def run(self, job: Job) -> bool:
        """Start `job`; what it raises is logged. After `stop` nothing is started: False."""
        with self._lock:
            if self._stopped:
                return False
            worker = self._idle.pop() if self._idle else None
            if worker is None:
                worker = _Worker(self)
                self._threads.add(worker.thread)
                worker.thread.start()
        worker.give(job)
        return True

    def idle(self, worker: _Worker) -> bool:
        """Take a worker back that has done its job; False if its thread is not needed any more."""
        with self._lock:
            if not self._stopped and len(self._idle) < IDLE_THREADS:
                self._idle.append(worker)
                return True
            self._threads.discard(worker.thread)
            return False

    def retire(self, worker: _Worker) -> bool:
        """Let an idle worker go; False if a job is already on its way to it."""
        with self._lock:
            if worker not in self._idle:
                return False
            self._idle.remove(worker)
            self._threads.discard(worker.thread)
            return True

    def stop(self, seconds: float) -> int:
        """End idle threads, wait for busy ones; return how many still run after `seconds`."""
        with self._lock:
            self._stopped = True
            idle, threads = list(self._idle), set(self._threads)
            self._idle.clear()
        for worker in idle:
            worker.give(None)
        until = time.monotonic() + seconds
        for thread in threads - {threading.current_thread()}:
            thread.join(max(0.0, until - time.monotonic()))
        return sum(thread.is_alive() for thread in threads)


def _guarded(job: Job) -> None:
    try:
        job()
    except Exception:
        LOG.exception("a background job failed")
