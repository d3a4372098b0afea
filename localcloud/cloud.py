"""The local cloud: AWS in this process, started and stopped as a whole."""

from __future__ import annotations

import gc
import logging
import os
from collections.abc import Callable, Sequence
from contextlib import ExitStack
from datetime import UTC, datetime
from functools import partial
from pathlib import Path

from localcloud import objects, secrets
from localcloud.direct import DirectClients
from localcloud.discovery import Endpoint, announce, locked, withdraw
from localcloud.dynamodb import install as dynamodb
from localcloud.dynamodb.engine import Engine, Forgetful
from localcloud.dynamodb.table import Tables
from localcloud.events import (
    OBJECT_CREATED,
    STATUS_CHANGE,
    Events,
    Rule,
    run_finished,
    stored,
    told,
)
from localcloud.expiry import Expiry
from localcloud.functions import ByName, Functions
from localcloud.lambdas import ACCOUNT, REGION, Lambdas
from localcloud.mocking import mocked
from localcloud.scheduler.backend import repaired
from localcloud.scheduler.firing import LocalScheduler
from localcloud.schedules import Schedules
from localcloud.server import serving
from localcloud.stepfunctions.backend import LocalStepFunctions
from localcloud.stepfunctions.environment import Runtime
from localcloud.stepfunctions.execution import LocalExecution
from localcloud.stepfunctions.install import installed
from localcloud.stepfunctions.tokens import Tokens
from localcloud.storage import Storage, StoredMachine
from localcloud.stores import create_resources, load
from localcloud.streams import Streams
from localcloud.template import FILE, Template
from localcloud.workers import Workers
from stellwerk.config import Settings

LOG = logging.getLogger(__name__)
_YOUNG_OBJECTS = 10_000
"""How many new objects make the garbage collector look."""
STOP_SECONDS = 10.0
"""How long a stop waits for Lambdas that are at work."""


class LocalCloud:
    """AWS for one deployment of the product; a context manager.

    Without `data` all is forgotten at the stop. With `port` (0: any free one) other processes can
    use it too. `on_start` is called when everything stands, before the cloud can be found: it
    continues what a killed process left open.
    """

    def __init__(
        self,
        data: Path | None = None,
        *,
        port: int | None = None,
        settings: Settings | None = None,
        functions: Functions | None = None,
        on_start: Callable[[LocalCloud], None] | None = None,
        retry_pace: float = 1.0,
    ) -> None:
        self.data = data
        self.settings = settings or Settings.of({})
        self.endpoint: str | None = None
        self._port = port
        self._functions = functions or _declared(self.settings.prefix)
        self._on_start = on_start
        self._retry_pace = retry_pace
        self._stack = ExitStack()

    def __enter__(self) -> LocalCloud:
        self.start()
        return self

    def __exit__(self, *raised: object) -> None:
        self.stop()

    def start(self) -> None:
        """Start everything; what was started is stopped again if something fails."""
        with self._stack as starting:
            self._start()
            self._stack = starting.pop_all()

    def stop(self) -> None:
        """Stop everything. Executions end here; they are continued by the next start."""
        self._stack.close()

    def _start(self) -> None:
        if self.data is not None:
            self._stack.enter_context(locked(self.data))
        self._stack.enter_context(mocked(self.settings.bucket))
        self._start_machines()
        self._start_events()
        self.scheduled = repaired(ACCOUNT, REGION)
        self._start_stores()
        streams = Streams(self.lambdas, self.settings.runs_table, self._functions.streams)
        if self._port is not None:
            self.endpoint = self._stack.enter_context(serving(self._port))
        self._stack.callback(self._end_executions)
        self._start_streams(streams)
        self._start_expiry()
        self._spare_the_collector()
        begun = datetime.now(UTC)
        if self._on_start is not None:
            self._on_start(self)
        self._start_schedules(begun)
        if self.data is not None and self.endpoint is not None:
            started = datetime.now(UTC).isoformat(timespec="seconds")
            announce(self.data, Endpoint(os.getpid(), self.endpoint, started))
            self._stack.callback(withdraw, self.data)

    def _start_stores(self) -> None:
        storage = None if self.data is None else Storage(self.data)
        self.dynamodb = Engine(Tables(), storage or Forgetful())
        self._stack.enter_context(dynamodb.installed(self.dynamodb))
        self.clients = DirectClients(self.dynamodb, self.machines, self.events.put)
        create_resources(self.clients, self.settings)
        if storage is None:
            return
        self._stack.callback(storage.close)
        load(storage, self.dynamodb.tables)
        for machine in storage.machines():
            self.machines.create(machine.name, machine.definition, machine.role)
        self.machines.on_create = lambda made: storage.keep_machine(
            StoredMachine(made.arn, made.name, made.definition, made.roleArn)
        )
        self.machines.on_delete = storage.drop_machine
        self._stack.enter_context(objects.kept(storage))
        secrets.load(storage)
        self._stack.enter_context(secrets.kept(storage))

    def _start_machines(self) -> None:
        self._workers = Workers()
        self.lambdas = Lambdas(self._functions, self._workers)
        self.events = Events(self.lambdas, self._workers, _rules(self.settings.prefix))
        self.machines: LocalStepFunctions = self._stack.enter_context(installed(ACCOUNT, REGION))
        self.machines.runtime = Runtime(self.lambdas, self._workers, Tokens(), self._retry_pace)
        self.machines.on_end = self._ended

    def _start_streams(self, streams: Streams) -> None:
        self.dynamodb.on_write = streams.written
        streams.start()
        self._stack.callback(streams.stop)

    def _start_events(self) -> None:
        publish = partial(self.events.publish, "aws.s3", OBJECT_CREATED, ())
        self._stack.enter_context(objects.told(publish))
        self._stack.enter_context(self.events.installed())

    def _start_expiry(self) -> None:
        tables = [self.settings.platform_table, self.settings.runs_table]
        expiry = Expiry(self.dynamodb, tables)
        expiry.start()
        self._stack.callback(expiry.stop)

    def _start_schedules(self, begun: datetime) -> None:
        schedules = Schedules(self.lambdas, self._functions.rates)
        schedules.start()
        self._stack.callback(schedules.stop)
        scheduler = LocalScheduler(self.scheduled, self.lambdas, self._workers, begun)
        scheduler.start()
        self._stack.callback(scheduler.stop)

    def _spare_the_collector(self) -> None:
        """Let the garbage collector pass over what stands now.

        The models of AWS and the tables of moto's parser are a million objects that stay: looking
        at each took 100 to 300 ms, in the middle of some run, every few thousand steps. And let it
        look less often: nearly nothing of what a step makes needs a collector to go.
        """
        self._stack.callback(gc.set_threshold, *gc.get_threshold())
        gc.set_threshold(_YOUNG_OBJECTS)
        gc.freeze()
        self._stack.callback(gc.unfreeze)

    def _end_executions(self) -> None:
        self.machines.on_end = _silent
        self.events.stop()
        for execution in self.machines.running():
            execution.stop(datetime.now(UTC), None, "the local cloud is being stopped")
        left = self._workers.stop(STOP_SECONDS)
        if left:
            LOG.warning("%d Lambdas still ran when the local cloud stopped", left)

    def _ended(self, execution: LocalExecution) -> None:
        self.events.publish(
            "aws.states", STATUS_CHANGE, [execution.execution_arn], execution.status_change()
        )


def _declared(prefix: str) -> Functions:
    """The functions of the template; without one, those that the naming rule finds."""
    return Template(FILE, prefix) if FILE.exists() else ByName(prefix)


def _rules(prefix: str) -> Sequence[Rule]:
    return [run_finished(prefix), told(prefix), stored(prefix)]


def _silent(execution: LocalExecution) -> None:
    """What is told of executions that end because the cloud is being stopped: nothing."""
