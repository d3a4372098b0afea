"""Links by which guests decide: a secret per task and address, of which only the hash is kept.

A link's token is `MANDATE.INSTANCE.TASK.SECRET`. It is good for one answer: a person answers a task
once.
"""

from __future__ import annotations

import hashlib
import hmac
import re
import secrets
from collections.abc import Iterable
from datetime import datetime, timedelta

from stellwerk.kernel.errors import NotFound
from stellwerk.kernel.ids import InstanceId, MandateId, TaskId, UserId
from stellwerk.runs.model import HumanTask
from stellwerk.runs.notes import LINKS_KEPT, GuestLink, News
from stellwerk.runs.rights import NOBODY
from stellwerk.tenancy.access import Principal
from stellwerk.tenancy.scope import Scope, of_principal

MAIL = "mail:"
"""Begins an assignee who has no account."""
LONGEST = timedelta(days=30)
"""How long a link opens its task at most."""
_ID = r"([A-Za-z0-9_-]{1,128})"
_TOKEN = re.compile(rf"{_ID}\.{_ID}\.{_ID}\.([A-Za-z0-9_-]{{43}})")


def addresses(assignees: Iterable[str]) -> tuple[str, ...]:
    """Return those assignees who are guests, as `mail:ADDRESS`."""
    return tuple(dict.fromkeys(one for one in assignees if one.startswith(MAIL)))


def issued(task: HumanTask, address: str, now: datetime) -> tuple[News, str]:
    """Return the task's news with a new link for that address, and the link's secret."""
    secret = secrets.token_urlsafe(32)
    expires = min(task.due or now + LONGEST, now + LONGEST)
    link = GuestLink(address=address, sha256=_hash(secret), expires=expires)
    own = [one for one in task.news.links if one.address == address]
    others = [one for one in task.news.links if one.address != address]
    links = (*others, *own[-(LINKS_KEPT - 1) :], link)
    return task.news.model_copy(update={"links": links}), secret


def token_of(scope: Scope, task: TaskId, secret: str) -> str:
    """Return the token of a link to a task of the scope's place."""
    return f"{scope.mandate}.{scope.instance}.{task}.{secret}"


def scope_of(token: str, *, request: str = "") -> Scope:
    """Return the scope of nobody at the place that a token names; NotFound for what is no token."""
    mandate, instance, _, _ = _parts(token)
    nobody = Principal(NOBODY)
    return of_principal(nobody, MandateId(mandate), InstanceId(instance), request=request)


def parts(scope: Scope, token: str) -> tuple[TaskId, str]:
    """Return which of the scope's tasks a token is of, and its secret; NotFound for all others."""
    mandate, instance, task, secret = _parts(token)
    if (mandate, instance) != (scope.mandate, scope.instance):
        raise unknown_link()
    return TaskId(task), secret


def holder(task: HumanTask, secret: str, now: datetime) -> UserId:
    """Return the guest who holds the link with that secret; raise NotFound if it opens nothing."""
    wanted = _hash(secret)
    for link in task.news.links:
        if hmac.compare_digest(link.sha256, wanted) and now < link.expires:
            return UserId(link.address)
    raise unknown_link()


def guest_scope(scope: Scope, guest: UserId) -> Scope:
    """Return the scope of a guest, who holds no role, at the scope's place."""
    return of_principal(
        Principal(guest),
        scope.mandate,
        scope.instance,
        feature=scope.feature,
        request=scope.request,
    )


def unknown_link() -> NotFound:
    """Return the error of a link that opens nothing: which of the reasons it is stays here."""
    return NotFound(
        "This link does not open a task: it is incomplete, or its time is over.",
        remedy="Ask whoever has sent it for a new one.",
    )


def _parts(token: str) -> tuple[str, str, str, str]:
    found = _TOKEN.fullmatch(token)
    if found is None:
        raise unknown_link()
    mandate, instance, task, secret = found.groups()
    return mandate, instance, task, secret


def _hash(secret: str) -> str:
    return hashlib.sha256(secret.encode()).hexdigest()
