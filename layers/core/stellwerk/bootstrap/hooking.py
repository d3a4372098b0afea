"""What has to do with the addresses of triggers: webhooks and forms."""

from __future__ import annotations

from dataclasses import dataclass

from stellwerk.aws.bodies import Bodies
from stellwerk.aws.hooks import DynamoAddresses, DynamoHooks, DynamoSecrets
from stellwerk.aws.requests import DynamoCounters
from stellwerk.bootstrap.clients import Stores
from stellwerk.bootstrap.later import Means
from stellwerk.bootstrap.running import Services
from stellwerk.requests.limits import RateLimit
from stellwerk.triggers.hookdesk import HookDesk
from stellwerk.triggers.hooks import HookPart
from stellwerk.triggers.receiving import Doors
from stellwerk.triggers.webhooks import Webhooks


@dataclass(frozen=True)
class HookServices:
    """What takes deliveries, and what shows and changes where they go."""

    doors: Doors
    webhooks: Webhooks
    desk: HookDesk


def hook_part(means: Means) -> HookPart:
    """Return who gives tokens to what is armed."""
    platform = means.stores.items(means.settings.platform_table)
    hooks = DynamoHooks(platform, Bodies(means.stores.values))
    return HookPart(hooks, DynamoAddresses(platform), means.clock)


def hook_services(running: Services, stores: Stores) -> HookServices:
    """Return the services of hooks around those that run workflows."""
    settings, press = running.settings, running.press
    platform = stores.items(settings.platform_table)
    hooks, addresses = DynamoHooks(platform, Bodies(stores.values)), DynamoAddresses(platform)
    secrets = DynamoSecrets(platform)
    limits = RateLimit(DynamoCounters(platform), press.clock, limit=settings.hook_rate)
    return HookServices(
        doors=Doors(hooks, addresses, limits, running.firing, running.assembly.world),
        webhooks=Webhooks(secrets, press.clock),
        desk=HookDesk(hooks, addresses, secrets, press.versions, press.audit, press.clock),
    )
