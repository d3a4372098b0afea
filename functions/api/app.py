"""The application: routers put together over a backend."""

from __future__ import annotations

from collections.abc import Iterator
from importlib import import_module

from fastapi import APIRouter, FastAPI
from starlette.middleware.gzip import GZipMiddleware
from starlette.responses import RedirectResponse

from api import document, errors
from api.backend import Backend
from api.edge import Bounded, Known, Named
from api.operations import Operation, declared, operation_id
from api.routers import (
    audit,
    catalogue,
    clients,
    connections,
    deputies,
    events,
    files,
    forms,
    graphs,
    health,
    hooks,
    instances,
    mandates,
    me,
    members,
    occurrences,
    replays,
    roles,
    runs,
    schedules,
    stats,
    tasklinks,
    tasks,
    versions,
    workflows,
)
from stellwerk.kernel.clock import SystemClock

API = "/api/v1"
MANDATE = "/mandates/{mandate}"
INSTANCE = f"{MANDATE}/instances/{{instance}}"
DOCUMENT = f"{API}/openapi.json"
_COMPRESSED_FROM = 1024
"""Bytes of an answer from which compressing it saves more than it costs."""


def create_app(backend: Backend) -> FastAPI:
    """Return the application; two of them share nothing."""
    app = FastAPI(
        title="Stellwerk",
        version="1",
        summary="Automation of office work, for many tenants",
        openapi_url=DOCUMENT,
        docs_url=None,
        redoc_url=None,
        redirect_slashes=False,
        generate_unique_id_function=operation_id,
    )
    app.state.backend = backend
    errors.install(app)
    app.router.routes.extend(_resources())
    for code, module in sorted(backend.services.features.routes().items()):
        mount(app, code, module)
    app.add_api_route(API, _to_document, include_in_schema=False)
    document.install(app)
    # the last one added is the outermost
    app.add_middleware(Bounded)
    app.add_middleware(Known)
    app.add_middleware(GZipMiddleware, minimum_size=_COMPRESSED_FROM)
    app.add_middleware(Named, clock=SystemClock())
    return app


def mount(app: FastAPI, code: str, module: str) -> None:
    """Mount the routes of a feature, which its module keeps as `router`, at the feature's code."""
    router: APIRouter = import_module(module).router
    app.include_router(router, prefix=f"{API}/{code}", tags=[code])


def _resources() -> Iterator[Operation]:
    for module in (health, me, mandates, members, deputies, roles, clients, audit, instances):
        yield from declared(module.router, API)
    worked = (catalogue, graphs, workflows, versions, runs, replays, events, tasks, files)
    for module in (*worked, connections):
        yield from declared(module.router, API + INSTANCE)
    yield from declared(stats.of_mandates, API)
    for router in (hooks.listing, occurrences.router, schedules.router, stats.router):
        yield from declared(router, API + INSTANCE)
    for router in (hooks.router, forms.router, tasklinks.router):
        yield from declared(router, "")


def _to_document() -> RedirectResponse:
    return RedirectResponse(DOCUMENT)
