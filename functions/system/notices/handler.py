"""The stream of the table `runs`: a notice that opens a bundle is sent at once."""

from __future__ import annotations

import logging
from collections.abc import Iterator, Sequence

from stellwerk.aws.changes import Change, bundle_of
from stellwerk.bootstrap import Services
from stellwerk.handlers.streams import stream_event
from stellwerk.handlers.system import Occasion

LOG = logging.getLogger(__name__)


@stream_event
def handler(changes: Sequence[Change], given: Services, occasion: Occasion) -> Iterator[str]:
    """Send what is new. Who is not reached now is by the sweeper, so nothing comes again."""
    for change in changes:
        scope, bundle = bundle_of(change, request=occasion.request)
        try:
            given.watching.postman.look_at(scope, bundle)
        except Exception:
            LOG.exception("bundle %s could not be sent", bundle)
    yield from ()
