"""A local cloud for each test, with plain functions as Lambdas."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from localcloud.cloud import LocalCloud
from localcloud.functions import Given, Handler
from tests.localcloud.machines import Bench, Desk


class Refused(Exception):
    """What the function `refuse` raises."""


def echo(event: Any, context: Any) -> Any:
    return event


def refuse(event: Any, context: Any) -> Any:
    raise Refused("not today")


@pytest.fixture
def desk() -> Desk:
    return Desk()


@pytest.fixture
def bench(desk: Desk) -> Iterator[Bench]:
    handlers: dict[str, Handler] = {"echo": echo, "refuse": refuse, "desk": desk}
    with LocalCloud(functions=Given(handlers), retry_pace=0.01) as cloud:
        yield Bench(cloud, handlers)
