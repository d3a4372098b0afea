"""The API as a Lambda behind API Gateway (HTTP API): Mangum turns events into requests."""

from __future__ import annotations

from fastapi import FastAPI
from mangum import Mangum

from api.app import create_app
from api.backend import Backend
from api.identity import Verifier
from api.problems import MEDIA_TYPE
from stellwerk.bootstrap.serving import serve
from stellwerk.config import Settings

TEXTS = ["text/", "application/json", MEDIA_TYPE, "application/jsonl"]
"""Media types whose answers are handed over as they are; all others in base 64."""


def gateway(app: FastAPI) -> Mangum:
    """Return the handler that answers HTTP API events with `app`."""
    return Mangum(app, lifespan="off", text_mime_types=TEXTS)


def application(settings: Settings) -> FastAPI:
    """Return the application of a deployment."""
    return create_app(Backend(serve(settings), Verifier(settings.issuer, settings.clients)))


handler = gateway(application(Settings.from_environment()))
"""Made while the Lambda starts, when AWS gives it the most power and counts no time."""
