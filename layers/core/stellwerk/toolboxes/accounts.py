"""Connections in use: mailboxes opened, services called, each kind tried out in its way."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from functools import partial
from typing import assert_never

from stellwerk.kernel.errors import (
    ConnectionRejected,
    InvalidParameters,
    NotFound,
    ServiceUnavailable,
)
from stellwerk.kernel.json import JsonObject
from stellwerk.tenancy.scope import Scope
from stellwerk.toolboxes.graph import GraphMailbox
from stellwerk.toolboxes.imap import ImapMailbox
from stellwerk.toolboxes.kinds import MailServers
from stellwerk.toolboxes.mail import Mailbox
from stellwerk.toolboxes.model import Connection, ConnectionId, Kind, Status
from stellwerk.toolboxes.oauth import rejected
from stellwerk.toolboxes.ports import Answer, Connections, Secrets, Web
from stellwerk.toolboxes.rights import check_use
from stellwerk.toolboxes.smtp import signed_in
from stellwerk.toolboxes.tokens import AccessTokens
from stellwerk.toolboxes.web import object_in

_JSON = {"content-type": "application/json"}


@dataclass(frozen=True)
class Services:
    """Where the services of connections are, unless a connection says so itself."""

    graph: str = "https://graph.microsoft.com/v1.0"
    slack: str = "https://slack.com/api"
    allowed: Collection[str] = ()
    """Private `host:port` that may be called all the same."""


class Accounts:
    """Opens what connections lead to."""

    def __init__(
        self,
        store: Connections,
        kept: Secrets,
        tokens: AccessTokens,
        web: Web,
        services: Services,
    ) -> None:
        self._store = store
        self._kept = kept
        self._tokens = tokens
        self._web = web
        self._services = services

    def usable(self, scope: Scope, connection: ConnectionId, kinds: Collection[Kind]) -> Connection:
        """Return a connection that the scope's user may use now.

        Raises NotFound, Forbidden and Conflict as `rights.check_use`; InvalidParameters for one of
        another kind; ConnectionRejected for one that is expired.
        """
        found = self._store.get(scope, connection)
        check_use(scope, found)
        if found.kind not in kinds:
            raise InvalidParameters(
                f"Connection '{found.label}' is of kind {found.kind}.",
                remedy=f"Choose one of kind {' or '.join(sorted(kinds))}.",
            )
        if found.status is not Status.ACTIVE:
            raise rejected(found, found.problem or "it has expired")
        return found

    def mailbox(self, scope: Scope, connection: Connection) -> Mailbox:
        """Return the mailbox of a connection that may be used."""
        if connection.kind is Kind.MICROSOFT:
            token = partial(self._token, scope, connection)
            return GraphMailbox(self._services.graph, self._web, token)
        secret = self._kept.get(scope, connection.id)
        servers = MailServers.model_validate(connection.settings)
        return ImapMailbox(servers, str(secret["password"]), self._services.allowed)

    def tried(self, scope: Scope, connection: Connection) -> str:
        """Try a connection out without leaving a trace there; return what was found."""
        kind = connection.kind
        if kind is Kind.SMTP_IMAP:
            return self._try_servers(scope, connection)
        if kind is Kind.MICROSOFT:
            return self.mailbox(scope, connection).check()
        secret = self._secret(scope, connection)
        if kind is Kind.SLACK:
            return self._try_slack(secret)
        if kind is Kind.WEBHOOK:
            return self._try_webhook(secret)
        assert_never(kind)

    def _try_servers(self, scope: Scope, connection: Connection) -> str:
        found = self.mailbox(scope, connection).check()
        servers = MailServers.model_validate(connection.settings)
        if servers.smtp_host is None:
            return f"{found} It sends no mail: no `smtp_host` is set."
        password = str(self._secret(scope, connection)["password"])
        with signed_in(servers, password, self._services.allowed):
            return f"{found} {servers.smtp_host} takes mail from {servers.user}."

    def _try_slack(self, secret: JsonObject) -> str:
        """A token says whose it is; an address refuses an empty message, if it is one."""
        if "bot_token" in secret:
            headers = {"authorization": f"Bearer {secret['bot_token']}"}
            answer = self._web.send("POST", f"{self._services.slack}/auth.test", headers, b"")
            told = object_in(answer)
            if told.get("ok") is True:
                return f"Slack lets '{told.get('user')}' into '{told.get('team')}'."
            raise _refused("Slack", answer, str(told.get("error", "")))
        answer = self._web.send("POST", str(secret["webhook_url"]), _JSON, b"{}")
        said = answer.body[:40].decode(errors="replace")
        if answer.status == 400 and said in {"no_text", "invalid_payload"}:
            return "Slack knows the address; nothing was posted."
        raise _refused("Slack", answer, said if said.isidentifier() else "")

    def _try_webhook(self, secret: JsonObject) -> str:
        headers = secret.get("headers")
        given: Mapping[str, str] = (
            {name.lower(): str(value) for name, value in headers.items()}
            if isinstance(headers, dict)
            else {}
        )
        answer = self._web.send("HEAD", str(secret["url"]), given)
        if answer.status in {401, 403, 404, 410} or answer.status >= 500:
            raise _refused("The address", answer, "")
        return f"The address answers (status {answer.status} to HEAD); nothing was sent to it."

    def _token(self, scope: Scope, connection: Connection, refused: str = "") -> str:
        return self._tokens.token(scope, connection, refused=refused)

    def _secret(self, scope: Scope, connection: Connection) -> JsonObject:
        try:
            return self._kept.get(scope, connection.id)
        except NotFound:
            raise rejected(connection, "its secret is gone") from None


def _refused(who: str, answer: Answer, said: str) -> ConnectionRejected | ServiceUnavailable:
    told = f" ({said})" if said else ""
    message = f"{who} answered with status {answer.status}{told}."
    if answer.status == 429 or answer.status >= 500:
        return ServiceUnavailable(message, remedy="Try again later.")
    return ConnectionRejected(message, remedy="Look at the address or token, and hand it in again.")
