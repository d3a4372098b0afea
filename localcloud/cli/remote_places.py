"""Whoever is signed in, and the mandate and instance in which commands act."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeVar

from pydantic import BaseModel, ConfigDict

from localcloud.cli.remote import Api
from stellwerk.kernel.errors import BadInput, NotFound
from stellwerk.tenancy.scope import GRAPHICAL_EDITOR


class _Seen(BaseModel):
    model_config = ConfigDict(frozen=True, extra="ignore")

    id: str
    label: str


S = TypeVar("S", bound=_Seen)


class Instance(_Seen):
    """An instance where one may come in."""

    feature: str


class Mandate(_Seen):
    """A mandate to which one belongs."""

    instances: list[Instance]


class Myself(BaseModel):
    """Who is signed in."""

    model_config = ConfigDict(frozen=True, extra="ignore")

    id: str
    name: str
    kind: str


class Me(BaseModel):
    """Who is signed in, and where one belongs."""

    model_config = ConfigDict(frozen=True, extra="ignore")

    user: Myself
    mandates: list[Mandate]


def whoami(api: Api) -> Me:
    """Return who is signed in; raises Unauthenticated."""
    return Me.model_validate(api.get("/me").object)


def instance_of(api: Api, mandate: str | None, instance: str | None) -> tuple[str, str]:
    """Return the mandate and instance that were named; else the only ones.

    Of several instances it is the only one where workflows are edited. Raises BadInput.
    """
    if mandate and instance:
        return mandate, instance
    mandates = [one for one in whoami(api).mandates if mandate in {None, one.id}]
    chosen = _only(mandates, "mandate")
    instances = [one for one in chosen.instances if instance in {None, one.id}]
    editors = [one for one in instances if one.feature == GRAPHICAL_EDITOR]
    return chosen.id, _only(editors or instances, "instance").id


def _only(found: Sequence[S], kind: str) -> S:
    if len(found) == 1:
        return found[0]
    named = ", ".join(f"{one.id} ({one.label})" for one in found)
    if not found:
        raise NotFound(f"You belong to no such {kind}.", remedy="Ask an administrator.")
    raise BadInput(
        f"There are several {kind}s: {named}.",
        remedy=f"Choose one by --{kind} or STELLWERK_{kind.upper()}.",
    )
