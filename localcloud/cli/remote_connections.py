"""Connections, as the API offers them."""

from __future__ import annotations

import secrets

from localcloud.cli.remote import Api
from stellwerk.kernel.json import JsonObject
from stellwerk.toolboxes.model import Kind


class RemoteAccounts:
    """Those that whoever is signed in may see."""

    def __init__(self, api: Api, place: str) -> None:
        self._api = api
        self._place = f"{place}/connections"

    def list(self, cursor: str | None, limit: int) -> JsonObject:
        """Return a page."""
        return self._api.get(self._place, {"cursor": cursor, "limit": limit}).object

    def create(
        self, kind: Kind, label: str, settings: JsonObject, secret: JsonObject, *, shared: bool
    ) -> JsonObject:
        """Make one."""
        body: JsonObject = {
            "kind": kind.value,
            "label": label,
            "settings": settings,
            "secret": secret,
            "shared": shared,
        }
        return self._api.post(self._place, body, key=secrets.token_urlsafe(16)).object

    def test(self, connection: str) -> JsonObject:
        """Try one out."""
        return self._api.post(f"{self._place}/{connection}/test").object

    def authorise(self, connection: str, redirect: str) -> str:
        """Return where its owner consents."""
        asked: JsonObject = {"redirect": redirect}
        return str(self._api.post(f"{self._place}/{connection}/authorise", asked).object["url"])

    def finish(self, state: str, code: str) -> JsonObject:
        """Hand in what came back."""
        return self._api.post(f"{self._place}/callback", {"state": state, "code": code}).object

    def revoke(self, connection: str) -> JsonObject:
        """End the use of one."""
        return self._api.post(f"{self._place}/{connection}/revoke").object

    def remove(self, connection: str) -> None:
        """Forget one."""
        self._api.delete(f"{self._place}/{connection}")
