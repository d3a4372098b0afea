"""Operations of the API: declared at once, put together when they are first needed.

The framework takes some 4 ms to look at the parameters and models of one operation, and again when
its router is included in another one. There are ninety, and a Lambda that starts answers one.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from functools import cached_property
from typing import Any

from fastapi import APIRouter
from fastapi.routing import APIRoute
from starlette.routing import compile_path


class Operation(APIRoute):
    """A route of which only the path and the methods are known until a request is for it."""

    def __init__(self, path: str, endpoint: Callable[..., Any], **given: Any) -> None:
        self.path = path
        self.endpoint = endpoint
        self.name = endpoint.__name__
        self.methods = set(given["methods"])
        self.include_in_schema = given["include_in_schema"]
        self._given = given

    def below(self, prefix: str) -> Operation:
        """Return the operation as it is served below a path."""
        placed = Operation(prefix + self.path, self.endpoint, **self._given)
        placed.path_regex, placed.path_format, placed.param_convertors = compile_path(placed.path)
        return placed

    def __getattr__(self, name: str) -> Any:
        return getattr(self._whole, name)

    @cached_property
    def _whole(self) -> APIRoute:
        return APIRoute(self.path, self.endpoint, **self._given)


def operations(prefix: str = "", *, tags: list[str] | None = None) -> APIRouter:
    """Return a router on which modules declare their operations."""
    return APIRouter(
        prefix=prefix,
        tags=[*(tags or ())],
        route_class=Operation,
        generate_unique_id_function=operation_id,
    )


def declared(router: APIRouter, prefix: str) -> Iterator[Operation]:
    """Yield the operations of a router as they are served below `prefix`."""
    for route in router.routes:
        assert isinstance(route, Operation)
        yield route.below(prefix)


def operation_id(route: APIRoute) -> str:
    """Return the name of an operation for programs: `list_runs` is `listRuns`."""
    return re.sub(r"_([a-z])", lambda found: found[1].upper(), route.name)
