"""Webhooks: what strangers send to the address of a trigger. No token of ours is asked for."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable
from functools import partial
from typing import Annotated

from fastapi import Path, Request
from starlette.concurrency import run_in_threadpool
from starlette.responses import PlainTextResponse, Response

from api.arrivals import Arrival, arrived
from api.backend import Here, services
from api.caller import ID, InInstance
from api.models.hooks import Delivered, Hook, Hooks, HookSecret
from api.operations import operations
from api.problems import problem
from api.rendering import shown
from stellwerk.bootstrap.serving import ApiServices
from stellwerk.kernel.ids import NodeKey, WorkflowId
from stellwerk.kernel.json import JsonValue
from stellwerk.runs.model import Run, RunStatus
from stellwerk.runs.waking import over
from stellwerk.triggers.hooks import WEBHOOK
from stellwerk.triggers.webhooks import Webhook, challenge_in
from stellwerk.workflows.graph import KEY_PATTERN

router = operations()
LONGEST_WAIT = 25.0
"""Seconds for which a caller waits for a result at most: API Gateway gives up after 30."""
_FIRST_LOOK, _LAST_LOOK = 0.02, 0.5


@router.post("/hooks/{token}", include_in_schema=False)
async def deliver(request: Request, token: str) -> Response:
    """Take a delivery: prove, recognise, start; answer with the run."""
    here = services(request)
    webhook = await run_in_threadpool(_opened, here, token)
    now = here.hooks.webhooks.clock.now()
    arrival = await arrived(request)
    webhook.check(arrival.incoming, now)
    body = await arrival.read()
    challenge = challenge_in(arrival.incoming.query, body)
    if challenge is not None:
        return PlainTextResponse(challenge)
    delivery = webhook.delivery(arrival.incoming, body, now)
    payload = partial(_payload, here, webhook, arrival)
    run = await run_in_threadpool(here.hooks.doors.fire, webhook.opened, delivery, payload)
    if webhook.waits:
        run = await ended(partial(here.hooks.doors.run, webhook.opened, run), run)
    return await run_in_threadpool(_answer, here, webhook, run, str(request.base_url))


@router.get("/hooks/{token}", include_in_schema=False)
def greet(request: Request, token: str) -> Response:
    """Answer the handshake of a sender who looks whether we want what it sends."""
    challenge = _opened(services(request), token).handshake(request.query_params)
    if challenge is not None:
        return PlainTextResponse(challenge)
    return problem(
        "method-not-allowed",
        405,
        "This address takes what is sent by POST.",
        request=request.scope,
        remedy="Send a POST.",
        headers={"Allow": "POST"},
    )


def _opened(here: ApiServices, token: str) -> Webhook:
    return here.hooks.webhooks.of(here.hooks.doors.open(token, WEBHOOK))


def _payload(here: ApiServices, webhook: Webhook, arrival: Arrival) -> JsonValue:
    """Keep the files that came along, and return what the run gets."""
    kept = arrival.kept(here.files, lambda: here.hooks.doors.owner(webhook.opened))
    return webhook.payload(arrival.incoming, kept)


async def ended(look: Callable[[], Run], run: Run, longest: float = LONGEST_WAIT) -> Run:
    """Return the run when it is over, or as it stands after `longest` seconds."""
    until, pause = time.monotonic() + longest, _FIRST_LOOK
    while not over(run) and time.monotonic() < until:
        await asyncio.sleep(pause)
        pause = min(_LAST_LOOK, pause * 1.5)
        run = await run_in_threadpool(look)
    return run


def _answer(here: ApiServices, webhook: Webhook, run: Run, base: str) -> Response:
    place = f"api/v1/mandates/{run.mandate}/instances/{run.instance}/runs/{run.id}"
    view = Delivered(run=run.id, url=base + place, status=_status(run))
    if not webhook.waits or not over(run):
        return shown(view, status=202)
    if run.error is not None:
        return shown(view.model_copy(update={"error": run.error.type}), status=500)
    result = here.hooks.doors.result(webhook.opened, run)
    return shown(view.model_copy(update={"result": result}))


def _status(run: Run) -> RunStatus:
    """Return where the run stands; one whose outcome is recorded is not said to be at work."""
    if run.ended is None or not run.status.open:
        return run.status
    return RunStatus.FAILED if run.error else RunStatus.COMPLETED


listing = operations("/workflows/{workflow}/hooks", tags=["hooks"])
WorkflowInPath = Annotated[WorkflowId, Path(pattern=ID, description="Id of a workflow")]
NodeInPath = Annotated[NodeKey, Path(pattern=KEY_PATTERN, description="Key of a trigger node")]


@listing.get("", response_model=Hooks)
def list_hooks(
    scope: InInstance, here: Here, request: Request, workflow: WorkflowInPath
) -> Response:
    """List the addresses of a workflow's webhooks and forms, if you may change the workflow."""
    found = here.hooks.desk.list(scope, workflow)
    base = str(request.base_url)
    return shown(
        Hooks(items=[Hook.of(hook, base=base, has_secret=secret) for hook, secret in found])
    )


@listing.post("/{node}/rotate", response_model=Hook)
def rotate_hook(
    scope: InInstance, here: Here, request: Request, workflow: WorkflowInPath, node: NodeInPath
) -> Response:
    """Give a trigger another address. The old one is nobody's at once."""
    hook, secret = here.hooks.desk.rotate(scope, workflow, node)
    return shown(Hook.of(hook, base=str(request.base_url), has_secret=secret))


@listing.put("/{node}/secret", status_code=204)
def set_hook_secret(
    scope: InInstance, here: Here, workflow: WorkflowInPath, node: NodeInPath, body: HookSecret
) -> Response:
    """Set what the callers of a trigger prove themselves with. It is never shown again."""
    here.hooks.desk.set_secret(scope, workflow, node, body.secret)
    return Response(status_code=204)
