"""Replays of many runs as the API offers them."""

from __future__ import annotations

import secrets
from collections.abc import Mapping

from localcloud.cli.remote import Api
from localcloud.cli.remote_records import items_of, object_of, page_of
from stellwerk.kernel.json import JsonObject, JsonValue
from stellwerk.kernel.pages import Page
from stellwerk.runs.jobs import Job, Member, MemberStatus, Wanted
from stellwerk.tenancy.scope import Scope


class RemoteRerunning:
    """Replays many failed runs of an instance."""

    def __init__(self, api: Api, place: str) -> None:
        self._api = api
        self._place = place

    def begin(
        self,
        scope: Scope,
        workflow: str,
        *,
        wanted: Wanted | None = None,
        version: int | None = None,
        assume_done: Mapping[str, JsonValue] | None = None,
        repeat: frozenset[str] = frozenset(),
        confirm_writes: bool = False,
    ) -> Job:
        """Replay the failed runs of a workflow."""
        body: JsonObject = {
            **(wanted or Wanted()).model_dump(mode="json"),
            "target": version,
            "assume_done": {**(assume_done or {})},
            "repeat": [*sorted(repeat)],
            "confirm_writes": confirm_writes,
        }
        path, key = f"{self._place}/workflows/{workflow}/replays", secrets.token_urlsafe(16)
        return _job_of(self._api.post(path, body, key=key).object)

    def list(self, scope: Scope, *, cursor: str | None = None, limit: int = 50) -> Page[Job]:
        """Return a page of jobs."""
        asked = {"cursor": cursor, "limit": limit}
        return page_of(self._api.get(f"{self._place}/replays", asked).object, _job_of)

    def get(self, scope: Scope, job: str) -> Job:
        """Return a job."""
        return _job_of(self._api.get(f"{self._place}/replays/{job}").object)

    def cancel(self, scope: Scope, job: str) -> Job:
        """Start no further replay."""
        return _job_of(self._api.post(f"{self._place}/replays/{job}/cancel").object)


def _job_of(shown: JsonObject) -> Job:
    """Return a job; members that are not shown are known by their number alone."""
    known = {name: shown[name] for name in shown if name in Job.model_fields}
    return Job.model_validate({**known, "members": _members(shown)})


def _members(shown: JsonObject) -> list[Member]:
    if "runs" in shown:
        return [Member.model_validate(object_of(each)) for each in items_of(shown["runs"])]
    numbers = {status: int(str(shown[status.value])) for status in MemberStatus}
    return [
        Member.model_validate({"source": "", "status": status})
        for status, number in numbers.items()
        for _ in range(number)
    ]
