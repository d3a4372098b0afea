"""What the application stands on: the services, and what turns a token into claims."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, Protocol

from fastapi import Depends, Request

from stellwerk.bootstrap.serving import ApiServices
from stellwerk.tenancy.claims import Claims


class Tokens(Protocol):
    """Verifies access tokens."""

    def verify(self, token: str) -> Claims:
        """Return what the token says; raises Unauthenticated where it does not hold."""


@dataclass(frozen=True)
class Watching:
    """How events are sent: in streams, or else when there are any, at most so many seconds later.

    What answers for Lambda cannot stream: API Gateway gets an answer as a whole.
    """

    streams: bool = False
    seconds: float = 20.0


@dataclass(frozen=True)
class Backend:
    """Given to the application when it is made."""

    services: ApiServices
    tokens: Tokens
    watching: Watching = Watching()


def backend(request: Request) -> Backend:
    """Return the backend of the application that answers `request`."""
    found: Backend = request.app.state.backend
    return found


def services(request: Request) -> ApiServices:
    """Return the services of the application that answers `request`."""
    return backend(request).services


def watching(request: Request) -> Watching:
    """Return how the application that answers `request` sends events."""
    return backend(request).watching


Watched = Annotated[Watching, Depends(watching)]
"""How events are sent, as a parameter of an operation."""
Here = Annotated[ApiServices, Depends(services)]
"""The services, as a parameter of an operation."""
