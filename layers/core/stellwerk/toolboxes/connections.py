"""Connections, as people and programs make, look at, change, try out and end them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from stellwerk.kernel.clock import Clock
from stellwerk.kernel.errors import (
    BadInput,
    Conflict,
    ConnectionRejected,
    NotFound,
    StellwerkError,
    TransientError,
)
from stellwerk.kernel.ids import new_id
from stellwerk.kernel.json import JsonObject
from stellwerk.kernel.pages import Page
from stellwerk.kernel.records import Stale
from stellwerk.tenancy.access import Verb
from stellwerk.tenancy.auditing import Audit
from stellwerk.tenancy.scope import Scope, require
from stellwerk.toolboxes.kinds import secret_of, settings_of
from stellwerk.toolboxes.model import Connection, ConnectionId, Kind, Status, Verdict
from stellwerk.toolboxes.ports import Connections, Secrets
from stellwerk.toolboxes.rights import (
    TABLE,
    check_change,
    check_seen,
    check_sharing,
    check_use,
    sees,
)

LONGEST_LABEL = 200
_UNAUTHORISED = "Its owner has not consented yet."
Trial = Callable[[Scope, Connection], str]
"""Tries a connection out; returns what has answered, raises what is wrong."""


@dataclass(frozen=True)
class New:
    """A connection that is to be made."""

    kind: Kind
    label: str
    settings: JsonObject
    secret: JsonObject
    shared: bool = False


@dataclass(frozen=True)
class Changes:
    """What is to be otherwise; None stays. Settings and secret are changed together only."""

    label: str | None = None
    settings: JsonObject | None = None
    secret: JsonObject | None = None
    shared: bool | None = None


class ConnectionService:
    """Keeps the connections of instances."""

    def __init__(
        self, store: Connections, secrets: Secrets, audit: Audit, clock: Clock, trial: Trial
    ) -> None:
        self._store = store
        self._secrets = secrets
        self._audit = audit
        self._clock = clock
        self._trial = trial

    def create(self, scope: Scope, new: New) -> Connection:
        """Keep a connection of the scope's user, or of the instance.

        Raises BadInput naming all that is wrong; Forbidden where the user may give none to the
        instance. A Microsoft account is `expired` until its owner has consented.
        """
        require(scope, TABLE, Verb.CREATE)
        if new.shared:
            check_sharing(scope, Verb.CREATE)
        now = self._clock.now()
        settings, secret = settings_of(new.kind, new.settings), secret_of(new.kind, new.secret)
        connection = Connection(
            id=ConnectionId(new_id(now)),
            kind=new.kind,
            label=_checked_label(new.label),
            owner=scope.user,
            shared=new.shared,
            created=now,
        ).model_copy(update=_begun(new.kind, settings))
        with self._audit.act(scope, "connection.create", _name(connection)) as act:
            self._secrets.put(scope, connection.id, secret)
            added = self._store.add(scope, connection)
            act.after(added)
        return added

    def get(self, scope: Scope, connection: ConnectionId) -> Connection:
        """Return a connection; raises NotFound for one that the scope does not see."""
        found = self._store.get(scope, connection)
        check_seen(scope, found)
        return found

    def list(self, scope: Scope, *, cursor: str | None = None, limit: int = 50) -> Page[Connection]:
        """Return a page of what the scope sees, the oldest first; a page may be short."""
        require(scope, TABLE, Verb.READ)
        page = self._store.list(scope, cursor=cursor, limit=limit)
        return Page([found for found in page.items if sees(scope, found)], page.cursor)

    def update(
        self, scope: Scope, connection: ConnectionId, revision: int | None, changes: Changes
    ) -> Connection:
        """Change a connection at the revision that was seen; None: whichever it is.

        Raises BadInput for settings without the secret: whoever could lead a connection to another
        host under the secret that is kept would be shown it there. Stale for another revision.
        """
        found = self._store.get(scope, connection)
        check_change(scope, found)
        changed = self._changed(scope, found, changes)
        with self._audit.act(scope, "connection.update", _name(found)) as act:
            act.before(found)
            if revision not in {None, found.revision}:
                raise _stale(found, revision or 0)
            if changes.secret is not None:
                self._secrets.put(scope, connection, secret_of(found.kind, changes.secret))
            written = self._store.write(scope, changed)
            act.after(written)
        return written

    def revoke(self, scope: Scope, connection: ConnectionId) -> Connection:
        """End the use of a connection and forget its secret; what names it fails from now on."""
        found = self._store.get(scope, connection)
        check_change(scope, found)
        with self._audit.act(scope, "connection.revoke", _name(found)) as act:
            act.before(found)
            revoked = found.model_copy(update={"status": Status.REVOKED, "problem": ""})
            written = self._store.write(scope, revoked)
            self._secrets.remove(scope, connection)
            act.after(written)
        return written

    def remove(self, scope: Scope, connection: ConnectionId) -> None:
        """Forget a connection and its secret."""
        found = self._store.get(scope, connection)
        check_change(scope, found, Verb.DELETE)
        with self._audit.act(scope, "connection.delete", _name(found)) as act:
            act.before(found)
            self._secrets.remove(scope, connection)
            self._store.remove(scope, connection)

    def test(self, scope: Scope, connection: ConnectionId) -> Verdict:
        """Try a connection out, which needs the right to use it, and note what was found."""
        found = self._store.get(scope, connection)
        check_seen(scope, found)
        check_use(scope, found)
        with self._audit.act(scope, "connection.test", _name(found)):
            try:
                said = self._trial(scope, found)
            except StellwerkError as error:
                note(self._store, scope, connection, self._clock, error)
                return Verdict(works=False, message=error.message, remedy=error.remedy)
            note(self._store, scope, connection, self._clock, None)
        return Verdict(works=True, message=said)

    def _changed(self, scope: Scope, found: Connection, changes: Changes) -> Connection:
        if changes.settings is not None and changes.secret is None:
            raise BadInput(
                "Settings are changed together with the secret: they say where it is sent.",
                remedy="Hand in the secret once more, as `secret`.",
            )
        if found.status is Status.REVOKED and changes.secret is not None:
            raise Conflict("A revoked connection stays so.", remedy="Make another one.")
        values: dict[str, object] = {}
        if changes.label is not None:
            values["label"] = _checked_label(changes.label)
        if changes.shared is not None and changes.shared != found.shared:
            if found.owner != scope.user:
                raise _owners()
            if changes.shared:
                check_sharing(scope, Verb.CREATE)
            values["shared"] = changes.shared
        if changes.secret is not None:
            given = found.settings if changes.settings is None else changes.settings
            values |= _begun(found.kind, settings_of(found.kind, given))
            secret_of(found.kind, changes.secret)
        return found.model_copy(update=values)


def note(
    store: Connections,
    scope: Scope,
    connection: ConnectionId,
    clock: Clock,
    error: StellwerkError | None,
) -> Connection | None:
    """Write that a connection works, or what `error` was met with it; return it as written.

    One that a service refuses is expired: only its owner can mend that. Of two notes at once one
    counts, and one about what is gone or revoked counts for nothing: then None.
    """
    try:
        found = store.get(scope, connection)
        if found.status is Status.REVOKED:
            return None
        values: dict[str, object] = {"checked": clock.now(), "problem": ""}
        if error is None:
            values["status"] = Status.ACTIVE
        else:
            values["problem"] = error.message
            if isinstance(error, ConnectionRejected) and not isinstance(error, TransientError):
                values["status"] = Status.EXPIRED
        return store.write(scope, found.model_copy(update=values))
    except (Conflict, NotFound):
        return None


def _begun(kind: Kind, settings: JsonObject) -> dict[str, object]:
    """Return what a connection is when its secret is new."""
    fresh: dict[str, object] = {"settings": settings, "status": Status.ACTIVE, "problem": ""}
    if kind is Kind.MICROSOFT:
        scopes = settings.get("scopes")
        named = tuple(map(str, scopes)) if isinstance(scopes, list) else ()
        fresh |= {"scopes": named, "status": Status.EXPIRED, "problem": _UNAUTHORISED}
    return fresh


def _name(connection: Connection) -> str:
    return f"connection:{connection.id}"


def _checked_label(label: str) -> str:
    plain = label.strip()
    if 0 < len(plain) <= LONGEST_LABEL and plain.isprintable():
        return plain
    raise BadInput(
        "The connection's label is empty, too long, or has characters that no label can have.",
        remedy=f"Give it a label of up to {LONGEST_LABEL} printable characters.",
    )


def _stale(found: Connection, seen: int) -> Stale:
    return Stale(
        f"Connection {found.id} is at revision {found.revision}; you had seen revision {seen}.",
        found,
        seen,
    )


def _owners() -> Conflict:
    return Conflict(
        "Only its owner gives a connection to the instance, or takes it back.",
        remedy="Ask the owner, or make a connection of your own.",
    )
