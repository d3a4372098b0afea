"""What has to do with connections. Imported by those alone that keep or use them."""

from __future__ import annotations

from dataclasses import dataclass

from stellwerk.aws.connections import DynamoConnections
from stellwerk.aws.secrets import ManagedSecrets
from stellwerk.bootstrap.clients import Stores
from stellwerk.config import Settings
from stellwerk.kernel.clock import Clock
from stellwerk.tenancy.auditing import Audit
from stellwerk.toolboxes.accounts import Accounts, Services
from stellwerk.toolboxes.authorising import Authorising
from stellwerk.toolboxes.connections import ConnectionService
from stellwerk.toolboxes.oauth import Grants, Provider
from stellwerk.toolboxes.ports import Connections
from stellwerk.toolboxes.tokens import AccessTokens
from stellwerk.toolboxes.web import GuardedWeb


@dataclass(frozen=True)
class ConnectionServices:
    """Keeps, authorises and uses connections."""

    store: Connections
    connections: ConnectionService
    authorising: Authorising
    accounts: Accounts


def connection_services(
    settings: Settings, stores: Stores, audit: Audit, clock: Clock
) -> ConnectionServices:
    """Return the services of a deployment."""
    store = DynamoConnections(stores.items(settings.platform_table))
    kept = ManagedSecrets(stores.secretsmanager, settings.prefix)
    web = GuardedWeb(settings.http_allow)
    provider = Provider(settings.microsoft_login, settings.microsoft_client)
    grants = Grants(provider, web, clock)
    services = Services(graph=settings.microsoft_graph, allowed=settings.http_allow)
    tokens = AccessTokens(store, kept, grants, clock)
    accounts = Accounts(store, kept, tokens, web, services)
    return ConnectionServices(
        store=store,
        connections=ConnectionService(store, kept, audit, clock, accounts.tried),
        authorising=Authorising(store, kept, grants, audit, clock, redirects=settings.redirects),
        accounts=accounts,
    )
