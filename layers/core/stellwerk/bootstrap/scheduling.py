"""What has to do with schedules. Imported by those alone that fire, change or show them."""

from __future__ import annotations

from dataclasses import dataclass

from stellwerk.aws.bodies import Bodies
from stellwerk.aws.scheduler import EventBridgeScheduler, Target
from stellwerk.aws.schedules import DynamoLookMarks, DynamoRegistrations, DynamoSlots
from stellwerk.bootstrap.later import Means
from stellwerk.bootstrap.running import Services
from stellwerk.config import Settings
from stellwerk.triggers.arming import Arming
from stellwerk.triggers.schedules.drift import Drift
from stellwerk.triggers.schedules.firing import SlotFiring
from stellwerk.triggers.schedules.missing import MissedSlots
from stellwerk.triggers.schedules.part import SchedulePart
from stellwerk.triggers.schedules.rounds import ScheduleRounds
from stellwerk.triggers.schedules.service import ScheduleDesk
from stellwerk.triggers.schedules.telling import Teller


@dataclass(frozen=True)
class ScheduleServices:
    """What fires schedules, shows them, and looks after them."""

    firing: SlotFiring
    desk: ScheduleDesk
    rounds: ScheduleRounds


def schedule_part(means: Means) -> SchedulePart:
    """Return who registers schedules."""
    return SchedulePart(_registrations(means), _scheduler(means), means.clock)


def schedule_services(running: Services) -> ScheduleServices:
    """Return the services of schedules around those that run workflows."""
    means, world = means_of(running), running.assembly.world
    clock, versions, part = means.clock, means.versions, schedule_part(means)
    platform = means.stores.items(means.settings.platform_table)
    registrations = _registrations(means)
    slots = DynamoSlots(means.stores.items(means.settings.runs_table))
    teller = Teller(versions, world.notices)
    firing = SlotFiring(registrations, slots, running.firing, teller, clock)
    arming = Arming(versions, world.blueprints, means.catalogue, [part])
    drift = Drift(part, arming, versions, clock)
    return ScheduleServices(
        firing=firing,
        desk=ScheduleDesk(
            means.settings.prefix,
            registrations,
            slots,
            versions,
            drift,
            running.press.audit,
            clock,
        ),
        rounds=ScheduleRounds(
            places=running.assembly.rounds,
            registrations=registrations,
            missed=MissedSlots(registrations, slots, world.runs, firing, teller, clock),
            drift=drift,
            marks=DynamoLookMarks(platform),
            clock=clock,
        ),
    )


def means_of(running: Services) -> Means:
    """Return what the services were built with."""
    press, stores = running.press, running.stores
    return Means(
        running.settings, stores.doors, stores, press.clock, running.catalogue, press.versions
    )


def target_of(settings: Settings) -> Target:
    """Return what schedules call, and as whom: all of it is named after the deployment."""
    _, partition, *_ = settings.states_role.split(":")
    prefix, place = settings.prefix, f"{settings.region}:{settings.account}"
    return Target(
        prefix=prefix,
        function=f"arn:{partition}:lambda:{place}:function:{prefix}-triggers-schedule",
        role=f"arn:{partition}:iam::{settings.account}:role/{prefix}-scheduler",
        undelivered=f"arn:{partition}:sqs:{place}:{prefix}-undelivered",
    )


def _registrations(means: Means) -> DynamoRegistrations:
    platform = means.stores.items(means.settings.platform_table)
    return DynamoRegistrations(platform, Bodies(means.stores.values))


def _scheduler(means: Means) -> EventBridgeScheduler:
    return EventBridgeScheduler(lambda: means.doors.scheduler, target_of(means.settings))
