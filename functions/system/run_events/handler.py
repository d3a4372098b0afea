"""The stream of the table `runs`: what happened in runs goes into their event logs."""

from __future__ import annotations

import logging
from collections.abc import Iterator, Sequence

from stellwerk.aws.changes import Change, by_run
from stellwerk.bootstrap import Services
from stellwerk.handlers.metrics import counted, emit
from stellwerk.handlers.streams import stream_event
from stellwerk.handlers.system import Occasion
from stellwerk.watching.model import RunEvent

LOG = logging.getLogger(__name__)


@stream_event
def handler(changes: Sequence[Change], given: Services, occasion: Occasion) -> Iterator[str]:
    """Append what changed to the logs, run by run; what is wrong with a run stays with it."""
    watching, told = given.watching, list[RunEvent]()
    for changed in by_run(changes, watching.bodies, request=occasion.request):
        try:
            told += watching.projector.project(changed.scope, changed.run, changed.looks)
        except Exception:
            LOG.exception("the event log of run %s could not be written", changed.run)
            yield changed.sequence
    emit(given.settings, counted(told))
