"""What graphs and tasks may name besides workflows, as the stores know it."""

from __future__ import annotations

from stellwerk.files.model import FileId
from stellwerk.files.ports import Files
from stellwerk.files.service import TABLE as FILES
from stellwerk.kernel.errors import NotFound
from stellwerk.kernel.ids import UserId
from stellwerk.kernel.json import JsonObject
from stellwerk.tenancy.access import Verb
from stellwerk.tenancy.ports import Members
from stellwerk.tenancy.scope import Scope, permitted


class KnownUsers:
    """Users who belong to the scope's mandate."""

    def __init__(self, members: Members) -> None:
        self._members = members

    def known(self, scope: Scope, name: str) -> bool:
        """Say whether the mandate has such a member."""
        membership = self._members.standing(scope, UserId(name)).membership
        return membership is not None and membership.active


class KnownFiles:
    """Files of the scope's instance."""

    def __init__(self, files: Files) -> None:
        self._files = files

    def known(self, scope: Scope, name: str) -> bool:
        """Say whether the instance has such a file."""
        try:
            self._files.get(scope, FileId(name))
        except NotFound:
            return False
        return True


class HandedIn:
    """Files of the scope's instance that come with a decision."""

    def __init__(self, files: Files) -> None:
        self._files = files

    def found(self, scope: Scope, file: str) -> JsonObject | None:
        """Return what is known of a file that the scope may read."""
        try:
            found = self._files.get(scope, FileId(file))
        except NotFound:
            return None
        if not permitted(scope, FILES, Verb.READ, found.created_by).allowed:
            return None
        return {"name": found.name, "type": found.type, "size": found.size}
