"""Counts what is asked of DynamoDB: requests by table, and the items that reading looks at.

moto's reported capacity means nothing; our own engine says how many items a query has evaluated.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import partial
from typing import Any, cast

from stellwerk.bootstrap import Clients

Request = Mapping[str, Any]


@dataclass(frozen=True)
class Counted:
    """What was asked of DynamoDB."""

    requests: int
    named: int
    """Those of them that went to a certain table."""
    evaluated: int
    """Items that were looked at."""


class Counting:
    """DynamoDB's client, which counts what is asked of it."""

    def __init__(self, client: object) -> None:
        self.requests: Counter[str] = Counter()
        """By table."""
        self.evaluated = 0
        """Items that were looked at to answer, whether they are in the answers or not."""
        self._client = client

    def since(self, before: Counted, table: str = "") -> Counted:
        """Return what was counted since then; `table` is the one whose requests are named."""
        now = self.now(table)
        return Counted(
            now.requests - before.requests,
            now.named - before.named,
            now.evaluated - before.evaluated,
        )

    def now(self, table: str = "") -> Counted:
        """Return what was counted so far."""
        return Counted(self.requests.total(), self.requests[table], self.evaluated)

    def __getattr__(self, name: str) -> object:
        """Return the client's method, which counts when it is called."""
        return partial(self._called, getattr(self._client, name))

    def _called(self, method: Callable[..., dict[str, Any]], **request: Any) -> dict[str, Any]:
        answer = method(**request)
        self.requests[next(_tables(request))] += 1
        self.evaluated += _evaluated(request, answer)
        return answer


class CountingClients:
    """The clients of a cloud, with a count for DynamoDB."""

    def __init__(self, clients: Clients) -> None:
        self.counts = Counting(clients.dynamodb)
        self.dynamodb = self.counts
        self._clients = clients

    def __getattr__(self, name: str) -> object:
        """Return the client of another service."""
        return getattr(self._clients, name)

    @property
    def as_clients(self) -> Clients:
        """These, as the product asks for them."""
        return cast("Clients", self)


def _tables(request: Request) -> Iterator[str]:
    """Yield the table of each part of a request; every request of ours is to one table."""
    if "TableName" in request:
        yield request["TableName"]
    yield from request.get("RequestItems", ())
    for part in request.get("TransactItems", ()):
        yield from (write["TableName"] for write in part.values())


def _evaluated(request: Request, answer: Mapping[str, Any]) -> int:
    """Return how many items a reading request has looked at."""
    if "ScannedCount" in answer:
        return int(answer["ScannedCount"])
    if "Responses" in answer and "RequestItems" in request:
        return sum(len(part["Keys"]) for part in request["RequestItems"].values())
    return 1 if "Item" in answer else 0
