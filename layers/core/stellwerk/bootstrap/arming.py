"""What arms the triggers of workflows. Imported only when a workflow changes."""

from __future__ import annotations

from collections.abc import Sequence

from stellwerk.bootstrap.clients import Clients, Stores
from stellwerk.catalogue.model import Catalogue
from stellwerk.config import Settings
from stellwerk.kernel.clock import Clock
from stellwerk.runs.blueprints import Blueprints
from stellwerk.triggers.arming import Arming
from stellwerk.triggers.model import Part
from stellwerk.workflows.ports import Versions


def arming(
    settings: Settings,
    ways: tuple[Clients, Stores],
    clock: Clock,
    catalogue: Catalogue,
    versions: Versions,
    blueprints: Blueprints,
) -> Arming:
    """Return what arms triggers in a deployment."""
    return Arming(versions, blueprints, catalogue, _parts(settings, ways, clock))


def _parts(settings: Settings, ways: tuple[Clients, Stores], clock: Clock) -> Sequence[Part]:
    """Return who sees to which kind of trigger."""
    return []
