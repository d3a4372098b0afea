"""AWS Lambda in this process: JSON in, JSON out, a context, deadlines, errors as AWS words them."""

from __future__ import annotations

import json
import logging
import random
import threading
import time
import traceback
import uuid
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from localcloud.functions import Function, Functions
from localcloud.workers import Workers

LOG = logging.getLogger(__name__)

PAYLOAD = 6 * 1024 * 1024
"""Bytes of a request or a response of a synchronous call."""
ASYNC_PAYLOAD = 256 * 1024
"""Bytes of the event of an asynchronous call."""
REGION = "eu-central-1"
ACCOUNT = "123456789012"
_REQUESTS = random.Random()
"""Of its own, as the state of the common one is watched by those who draw from it."""


class PayloadTooLarge(ValueError):
    """AWS refuses the request before the function sees it."""


@dataclass(frozen=True)
class Result:
    """What a call gave: a JSON text; `failed` if it describes an error."""

    payload: str
    failed: bool = False


@dataclass
class Context:
    """What a handler learns about its call."""

    function_name: str
    memory_limit_in_mb: int
    aws_request_id: str
    deadline: float
    """On the monotonic clock."""
    function_version: str = "$LATEST"
    client_context: None = None
    identity: None = None

    @property
    def invoked_function_arn(self) -> str:
        """The function's ARN."""
        return arn(self.function_name)

    @property
    def log_group_name(self) -> str:
        """Where the function's logs go on AWS."""
        return f"/aws/lambda/{self.function_name}"

    @property
    def log_stream_name(self) -> str:
        """Where this container's logs go on AWS."""
        return f"{time.strftime('%Y/%m/%d')}/[$LATEST]{self.aws_request_id.replace('-', '')}"

    def get_remaining_time_in_millis(self) -> int:
        """Milliseconds until AWS would end the call."""
        return max(0, int((self.deadline - time.monotonic()) * 1000))


@dataclass
class Call:
    """A call on its way; `done` is set when `result` is there."""

    function: Function
    context: Context
    done: threading.Event = field(default_factory=threading.Event)
    result: Result | None = None

    def run(self, payload: str | bytes) -> None:
        """Run the handler in this thread."""
        try:
            self.result = _called(self.function, json.loads(payload), self.context)
        except BaseException:
            LOG.exception("function %s ended its process", self.function.name)
            self.result = _error(self.context, "Runtime.ExitError", "Runtime exited")
        finally:
            self.done.set()

    def abandon(self) -> None:
        """Say that the cloud is being stopped and the handler will not run."""
        self.result = _error(self.context, "Runtime.ExitError", "The local cloud is being stopped")
        self.done.set()

    def outcome(self) -> Result:
        """Return the result, or the error of a call that is over its time."""
        if self.result is not None:
            return self.result
        seconds = self.function.timeout
        return _error(
            self.context, "Sandbox.Timedout", f"Task timed out after {seconds:.2f} seconds"
        )


class Lambdas:
    """The functions of a cloud, callable by name or ARN."""

    def __init__(self, functions: Functions, workers: Workers) -> None:
        self._functions = functions
        self._workers = workers

    def start(self, name: str, payload: str | bytes) -> Call:
        """Begin a call in a thread of its own. Raises FunctionNotFound, PayloadTooLarge."""
        call = self._prepared(name, payload, PAYLOAD)
        if not self._workers.run(lambda: call.run(payload)):
            call.abandon()
        return call

    def invoke(self, name: str, payload: str | bytes) -> Result:
        """Call and wait, at most as long as the function's timeout."""
        call = self.start(name, payload)
        call.done.wait(call.function.timeout)
        return call.outcome()

    def send(self, name: str, payload: str | bytes, on_failure: Callable[[Result], None]) -> None:
        """Call asynchronously; AWS queues the event and answers before the function runs."""
        call = self._prepared(name, payload, ASYNC_PAYLOAD)

        def deliver() -> None:
            call.run(payload)
            if call.outcome().failed:
                on_failure(call.outcome())

        self._workers.run(deliver)

    def _prepared(self, name: str, payload: str | bytes, limit: int) -> Call:
        if len(payload) > limit:
            raise PayloadTooLarge(f"Request must be smaller than {limit} bytes for '{name}'")
        function = self._functions.find(name_of(name))
        context = Context(
            function_name=function.name,
            memory_limit_in_mb=function.memory,
            aws_request_id=str(uuid.UUID(int=_REQUESTS.getrandbits(128), version=4)),
            deadline=time.monotonic() + function.timeout,
        )
        return Call(function, context)


def arn(name: str) -> str:
    """Return the ARN of the function called `name`."""
    return f"arn:aws:lambda:{REGION}:{ACCOUNT}:function:{name}"


def name_of(name_or_arn: str) -> str:
    """Return a function's name from its name, its ARN, or an ARN with a qualifier."""
    if ":function:" not in name_or_arn:
        return name_or_arn.partition(":")[0]
    return name_or_arn.partition(":function:")[2].partition(":")[0]


def _called(function: Function, event: object, context: Context) -> Result:
    try:
        value = function.handler(event, context)
    except Exception as error:
        LOG.debug("function %s failed", function.name, exc_info=True)
        return _raised(context, error)
    try:
        text = json.dumps(value)
    except (TypeError, ValueError) as error:
        return _error(context, "Runtime.MarshalError", f"Unable to marshal response: {error}")
    if len(text) > PAYLOAD:
        return _error(
            context,
            "Function.ResponseSizeTooLarge",
            f"Response payload size exceeded maximum allowed payload size ({PAYLOAD} bytes).",
        )
    return Result(text)


def _raised(context: Context, error: Exception) -> Result:
    stack = traceback.format_tb(error.__traceback__)
    return _error(context, type(error).__name__, str(error), stack)


def _error(context: Context, kind: str, message: str, stack: Sequence[str] = ()) -> Result:
    body = {
        "errorMessage": message,
        "errorType": kind,
        "requestId": context.aws_request_id,
        "stackTrace": list(stack),
    }
    return Result(json.dumps(body), failed=True)
