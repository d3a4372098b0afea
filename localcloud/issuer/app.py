"""The issuer as an ASGI application."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from pathlib import Path
from urllib.parse import urlsplit

from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import (
    FileResponse,
    HTMLResponse,
    JSONResponse,
    RedirectResponse,
    Response,
)
from starlette.routing import Route

from localcloud.issuer import pages, redirects
from localcloud.issuer.codes import Codes
from localcloud.issuer.exchange import Exchange
from localcloud.issuer.keys import ALGORITHM, SigningKey
from localcloud.issuer.machines import Machines, NoMachines
from localcloud.issuer.people import People, seeded
from localcloud.issuer.requests import Clients, Refused, query
from localcloud.issuer.signin import SignInPage
from localcloud.issuer.tokens import Tokens
from stellwerk.kernel.clock import Clock, SystemClock
from stellwerk.kernel.json import JsonObject

CLIENT = "stellwerk"
"""The public client of the editor and the command line."""
CLIENTS: Clients = {CLIENT: ()}
_FILES = {"style.css": "text/css", "icon.svg": "image/svg+xml"}
_OPEN = {"Access-Control-Allow-Origin": "*", "Cache-Control": "public, max-age=300"}
"""Of what anybody may read."""
Endpoint = Callable[[Request], Awaitable[Response]]


def create_issuer(
    issuer: str,
    *,
    data: Path | None = None,
    people: People | None = None,
    machines: Machines | None = None,
    clients: Clients = CLIENTS,
    clock: Clock | None = None,
) -> Starlette:
    """Return the application, to be mounted at the path of `issuer`, its address.

    Its key is kept in the folder `data`; without one it is new each time.
    """
    base = urlsplit(issuer).path
    time, everybody = clock or SystemClock(), people or seeded()
    key, codes = SigningKey.of(data), Codes(time)
    page = SignInPage(issuer, base, clients, people=everybody, codes=codes)
    exchange = Exchange(
        clients,
        codes=codes,
        tokens=Tokens(issuer, key, everybody, time),
        people=everybody,
        machines=machines or NoMachines(),
    )
    return Starlette(
        routes=[
            Route("/.well-known/openid-configuration", _fixed(_description(issuer))),
            Route("/.well-known/jwks.json", _fixed({"keys": [key.public]})),
            Route("/authorize", page.show, methods=["GET"]),
            Route("/authorize", page.choose, methods=["POST"]),
            Route("/token", exchange.token, methods=["POST"]),
            Route("/revoke", exchange.revoke, methods=["POST"]),
            Route("/logout", _logout(base, clients), methods=["GET"]),
            *(Route(f"/{name}", _file(name, kind)) for name, kind in _FILES.items()),
        ]
    )


def _description(issuer: str) -> JsonObject:
    return {
        "issuer": issuer,
        "authorization_endpoint": f"{issuer}/authorize",
        "token_endpoint": f"{issuer}/token",
        "revocation_endpoint": f"{issuer}/revoke",
        "end_session_endpoint": f"{issuer}/logout",
        "jwks_uri": f"{issuer}/.well-known/jwks.json",
        "response_types_supported": ["code"],
        "grant_types_supported": ["authorization_code", "refresh_token", "client_credentials"],
        "code_challenge_methods_supported": ["S256"],
        "token_endpoint_auth_methods_supported": [
            "none",
            "client_secret_basic",
            "client_secret_post",
        ],
        "authorization_response_iss_parameter_supported": True,
        "id_token_signing_alg_values_supported": [ALGORITHM],
        "subject_types_supported": ["public"],
        "scopes_supported": ["openid", "email", "profile"],
        "ui_locales_supported": list(pages.LANGUAGES),
    }


def _fixed(answer: JsonObject) -> Endpoint:
    async def show(request: Request) -> Response:
        return JSONResponse(answer, headers=_OPEN)

    return show


def _file(name: str, kind: str) -> Endpoint:
    async def show(request: Request) -> Response:
        return FileResponse(pages.FOLDER / name, media_type=kind)

    return show


def _logout(base: str, clients: Clients) -> Endpoint:
    """Return the page for signing out: the issuer keeps nobody signed in, so it only leads on."""
    drawn = pages.Pages(base)

    async def show(request: Request) -> Response:
        try:
            target = _after_logout(query(request), clients)
        except Refused:
            target = None
        if target is not None:
            return RedirectResponse(target, status_code=303)
        language = pages.language_of("", request.headers.get("accept-language", ""))
        return HTMLResponse(drawn.signed_out(language), headers=pages.policy())

    return show


def _after_logout(asked: Mapping[str, str], clients: Clients) -> str | None:
    """Return where to go, by OpenID Connect's name for it or by Cognito's, if that is allowed."""
    address = asked.get("post_logout_redirect_uri") or asked.get("logout_uri", "")
    registered = clients.get(asked.get("client_id", ""))
    if not address or registered is None or not redirects.allowed(address, registered):
        return None
    return redirects.extended(address, {"state": asked["state"]} if "state" in asked else {})
