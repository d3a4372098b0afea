"""Events as text: a stream that lasts while the client listens, or what there is by then."""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator, Sequence

from starlette.concurrency import run_in_threadpool
from starlette.responses import Response, StreamingResponse

from stellwerk.kernel.ids import RunId
from stellwerk.tenancy.scope import Scope
from stellwerk.watching.model import RunEvent
from stellwerk.watching.reading import Events

MEDIA_TYPE = "text/event-stream"
LOOK, CALM = 0.05, 0.25
"""Seconds between two looks of a stream at the log, while there is news and after a while without.
"""
WHILE = 5.0
POLL = 0.5
"""The same of a long poll."""
HEARTBEAT = 15.0
"""Seconds of silence after which a stream says that it is alive: proxies end what says nothing."""
LONGEST = 900.0
"""Seconds after which a stream ends, so that its token and its rights are looked at again."""
_BEGIN = "retry: 500\n\n"
_ALIVE = ": alive\n\n"
_HEADERS = {"Cache-Control": "no-store", "X-Accel-Buffering": "no"}


def streamed(events: Events, scope: Scope, run: RunId, after: int) -> Response:
    """Return a stream of the events behind `after`, up to the one that ends the run."""
    return StreamingResponse(
        _stream(events, scope, run, after), media_type=MEDIA_TYPE, headers=_HEADERS
    )


def polled(events: Events, scope: Scope, run: RunId, after: int, *, seconds: float) -> Response:
    """Return the events behind `after`, as soon as there are any, or none after so long."""
    until = time.monotonic() + seconds
    found = events.read(scope, run, after=after)
    while not found and time.monotonic() < until and not events.told(scope, run, after):
        time.sleep(POLL)
        found = events.read(scope, run, after=after)
    text = _BEGIN + ("".join(map(written, found)) or _ALIVE)
    return Response(text, media_type=MEDIA_TYPE, headers=_HEADERS)


def written(event: RunEvent) -> str:
    """Return an event as it is sent."""
    data = event.model_dump_json(exclude_defaults=True)
    return f"id: {event.seq}\nevent: {event.kind}\ndata: {data}\n\n"


async def _stream(events: Events, scope: Scope, run: RunId, after: int) -> AsyncIterator[str]:
    begun = said = told = time.monotonic()
    yield _BEGIN
    while time.monotonic() - begun < LONGEST:
        found: Sequence[RunEvent] = await run_in_threadpool(events.read, scope, run, after=after)
        for event in found:
            yield written(event)
        if found:
            after, said = found[-1].seq, time.monotonic()
            told = said
            if found[-1].kind.final:
                return
            continue
        if time.monotonic() - said > HEARTBEAT:
            if await run_in_threadpool(events.told, scope, run, after):
                return  # it was asked for what comes behind the last event
            said = time.monotonic()
            yield _ALIVE
        await asyncio.sleep(LOOK if time.monotonic() - told < WHILE else CALM)
