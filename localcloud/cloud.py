"""The local cloud: AWS in this process, started and stopped as a whole."""

from __future__ import annotations

import logging
from contextlib import ExitStack
from datetime import UTC, datetime
from typing import Any

import boto3
from botocore.config import Config
from moto.core.models import MockAWS

from localcloud.functions import ByName, Functions
from localcloud.lambdas import ACCOUNT, REGION, Lambdas
from localcloud.stepfunctions.backend import LocalStepFunctions
from localcloud.stepfunctions.environment import Runtime
from localcloud.stepfunctions.execution import LocalExecution
from localcloud.stepfunctions.install import installed
from localcloud.stepfunctions.tokens import Tokens
from localcloud.workers import Workers

LOG = logging.getLogger(__name__)
STOP_SECONDS = 10.0


class LocalCloud:
    """AWS for one deployment of the product; a context manager."""

    def __init__(self, *, functions: Functions | None = None, retry_pace: float = 1.0) -> None:
        self._functions = functions or ByName()
        self._retry_pace = retry_pace
        self._stack = ExitStack()
        self._session = boto3.Session(
            aws_access_key_id="local", aws_secret_access_key="local", region_name=REGION
        )
        self._clients: dict[str, Any] = {}

    def __enter__(self) -> LocalCloud:
        self.start()
        return self

    def __exit__(self, *raised: object) -> None:
        self.stop()

    def start(self) -> None:
        """Start everything."""
        self._workers = Workers()
        self.lambdas = Lambdas(self._functions, self._workers)
        mock = MockAWS(
            {
                "core": {"mock_credentials": False, "reset_boto3_session": False},
                "stepfunctions": {"execute_state_machine": True},
            }
        )
        self._stack.enter_context(mock)
        self.machines: LocalStepFunctions = self._stack.enter_context(installed(ACCOUNT, REGION))
        self.machines.runtime = Runtime(self.lambdas, self._workers, Tokens(), self._retry_pace)
        self.machines.on_end = self._ended
        self.machines.on_create = lambda machine: None
        self.machines.on_delete = lambda arn: None

    def stop(self) -> None:
        """Stop everything: executions are ended, not continued."""
        for execution in self.machines.running():
            execution.stop(datetime.now(UTC), None, None)
        left = self._workers.stop(STOP_SECONDS)
        if left:
            LOG.warning("%d Lambdas were still running when the local cloud stopped", left)
        self._stack.close()

    def client(self, service: str) -> Any:
        """Return the boto3 client of this cloud for `service`, always the same one."""
        if service not in self._clients:
            self._clients[service] = self._session.client(
                service, config=Config(retries={"max_attempts": 0})
            )
        return self._clients[service]

    def _ended(self, execution: LocalExecution) -> None:
        pass
