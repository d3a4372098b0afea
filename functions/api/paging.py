"""Pages of lists: how many items, and where to go on."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated

from fastapi import Depends, Query

MOST = 100


@dataclass(frozen=True)
class Paging:
    """Which page is wanted."""

    cursor: str | None
    limit: int


def paging(
    cursor: Annotated[
        str | None,
        Query(
            description="Where to go on: `cursor` of the page before, which is opaque",
            pattern=r"^[A-Za-z0-9_=.~-]{1,2000}$",
        ),
    ] = None,
    limit: Annotated[int, Query(ge=1, le=MOST, description="How many items at most")] = 50,
) -> Paging:
    """Return the wanted page."""
    return Paging(cursor, limit)


Paged = Annotated[Paging, Depends(paging)]
"""The wanted page, as a parameter of an operation."""
