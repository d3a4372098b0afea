"""What has to do with events: who waits for them, and what they start."""

from __future__ import annotations

from stellwerk.aws.bus import EventBridgeBus
from stellwerk.aws.files import DynamoFiles
from stellwerk.aws.subscriptions import DynamoSubscriptions
from stellwerk.bootstrap.later import Means
from stellwerk.bootstrap.running import Services
from stellwerk.triggers.matching import Matching
from stellwerk.triggers.model import Part
from stellwerk.triggers.subscriptions import SubscriptionPart
from stellwerk.triggers.telling import ChangePart, EventService


def event_parts(means: Means) -> tuple[Part, ...]:
    """Return who subscribes what is armed, and who tells of it."""
    platform = means.stores.items(means.settings.platform_table)
    bus = EventBridgeBus(lambda: means.doors.events, means.settings.bus)
    return SubscriptionPart(DynamoSubscriptions(platform)), ChangePart(bus, means.clock)


def matching(running: Services) -> Matching:
    """Return what starts what waits for an event."""
    settings, stores = running.settings, running.stores
    platform = stores.items(settings.platform_table)
    files = DynamoFiles(platform, stores.s3, settings.bucket)
    return Matching(DynamoSubscriptions(platform), running.firing, files)


def event_service(running: Services) -> EventService:
    """Return what takes events from outside."""
    doors, settings = running.stores.doors, running.settings
    bus = EventBridgeBus(lambda: doors.events, settings.bus)
    return EventService(bus, running.press.audit, running.press.clock)
