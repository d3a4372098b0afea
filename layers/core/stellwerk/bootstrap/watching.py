"""The services that watch runs. Imported only where somebody watches."""

from __future__ import annotations

from dataclasses import dataclass

from stellwerk.aws.bodies import Bodies
from stellwerk.aws.run_events import DynamoEventLog
from stellwerk.bootstrap.clients import Stores
from stellwerk.config import Settings
from stellwerk.runs.assembly import Assembly
from stellwerk.watching.projecting import Projector
from stellwerk.watching.reading import Events


@dataclass(frozen=True)
class Watching:
    """What watches runs."""

    bodies: Bodies
    projector: Projector
    events: Events


def watching(settings: Settings, stores: Stores, assembly: Assembly) -> Watching:
    """Return what watches the runs of a deployment."""
    world = assembly.world
    log = DynamoEventLog(stores.items(settings.runs_table))
    projector = Projector(log, world.journal, world.runs, world.clock)
    return Watching(
        bodies=Bodies(stores.values),
        projector=projector,
        events=Events(log, projector, assembly.runs, world.clock),
    )
