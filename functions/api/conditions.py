"""Entity tags: what a client has seen (If-None-Match), and what it means to change (If-Match)."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Annotated, Protocol, TypeVar, cast

from fastapi import Depends, Header
from pydantic import BaseModel

from stellwerk.kernel.errors import Conflict, StellwerkError
from stellwerk.kernel.json import JsonObject
from stellwerk.kernel.records import Stale


class Revised(Protocol):
    """Something that counts its writes."""

    @property
    def revision(self) -> int:
        """The number of its last write."""


R = TypeVar("R", bound=Revised)
T = TypeVar("T")
ANY = "*"
NEVER = -1
"""A revision that no record has: what a tag that is none of ours stands for."""


class PreconditionMissing(StellwerkError):
    """An edit does not say which version it is of."""

    def __init__(self) -> None:
        super().__init__(
            "The request does not say which version of the thing it changes.",
            remedy="Send its ETag, as you last read it, in the header If-Match.",
        )


class Outdated(Conflict):
    """The thing is not any more what the client has seen."""

    def __init__(self, yours: str, current: str, resource: BaseModel) -> None:
        super().__init__(
            f"Someone has changed this meanwhile: you have {yours}, it is {current} now.",
            remedy="Look at the current version in `versions`, and repeat the change on it.",
        )
        self.current = current
        self.versions: JsonObject = {
            "yours": yours,
            "current": current,
            "resource": resource.model_dump(mode="json", by_alias=True),
        }


def tag_of(record: Revised) -> str:
    """Return the entity tag of a record: its revision."""
    return f'"{record.revision}"'


def names(header: str, tag: str) -> bool:
    """Return whether a list of entity tags, or `*`, names `tag`."""
    return any(named.strip().removeprefix("W/") in {ANY, tag} for named in header.split(","))


class Match:
    """The header If-Match of an edit."""

    def __init__(self, header: str) -> None:
        self._header = header

    @property
    def revision(self) -> int | None:
        """The revision that the client has seen; None: whichever it is."""
        if self._header == ANY:
            return None
        revision = re.fullmatch(r'"([0-9]{1,9})"', self._header)
        return int(revision[1]) if revision else NEVER

    def edit(self, view: Callable[[R], BaseModel], change: Callable[[int | None], T]) -> T:
        """Return what `change` makes of the revision that the client has seen.

        Raises Outdated, with `view` of what is stored, where that is another one.
        """
        try:
            return change(self.revision)
        except Stale as stale:
            current = cast("R", stale.current)
            raise Outdated(self._header, tag_of(current), view(current)) from stale

    def edit_read(
        self, read: Callable[[], R], view: Callable[[R], BaseModel], change: Callable[[int], R]
    ) -> R:
        """Do as `edit` with a service that does not tell what is stored: it is read before."""
        found = read()
        if self.revision not in {None, found.revision}:
            raise Outdated(self._header, tag_of(found), view(found))
        try:
            return change(found.revision)
        except Conflict:
            current = read()
            if current.revision != found.revision:
                raise Outdated(self._header, tag_of(current), view(current)) from None
            raise


def match(
    if_match: Annotated[
        str,
        Header(
            alias="If-Match",
            description="The ETag of the version that is to be changed; `*` for any",
            pattern=r'^(\*|"[\x21\x23-\x7e]{0,60}")$',
            examples=['"3"'],
        ),
    ],
) -> Match:
    """Return the condition of an edit."""
    return Match(if_match)


Matching = Annotated[Match, Depends(match)]
"""The condition, as a parameter of an operation."""
