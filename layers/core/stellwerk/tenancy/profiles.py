"""What everybody may change about himself."""

from __future__ import annotations

from typing import Literal

from stellwerk.tenancy.auditing import Audit
from stellwerk.tenancy.model import User
from stellwerk.tenancy.ports import Directory
from stellwerk.tenancy.scope import Scope
from stellwerk.tenancy.wording import named


class ProfileService:
    """Changes the record of the scope's own user."""

    def __init__(self, directory: Directory, *, audit: Audit) -> None:
        self._members = directory.members
        self._audit = audit

    def update(
        self,
        scope: Scope,
        revision: int,
        *,
        name: str | None = None,
        language: Literal["de", "en"] | None = None,
    ) -> User:
        """Change name or language; what is None stays.

        Raises BadInput for a name that cannot be used; Conflict where `revision` is not what is
        stored.
        """
        with self._audit.act(scope, "user.update", f"user:{scope.user}") as act:
            stored = self._members.user(scope.user)
            act.before(stored)
            changed = stored.model_copy(
                update={
                    "revision": revision,
                    "name": stored.name if name is None else named(name, "name"),
                    "language": language or stored.language,
                }
            )
            written = self._members.write_user(changed, stored)
            act.after(written)
            return written
