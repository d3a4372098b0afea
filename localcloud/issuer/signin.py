"""Signing in: a page to choose from, and a code for the one who was chosen."""

from __future__ import annotations

from collections.abc import Mapping
from urllib.parse import urlencode

from starlette.requests import Request
from starlette.responses import HTMLResponse, RedirectResponse, Response

from localcloud.issuer import redirects
from localcloud.issuer.codes import Codes
from localcloud.issuer.pages import LANGUAGES, Language, Pages, language_of, policy
from localcloud.issuer.people import People
from localcloud.issuer.requests import (
    Authorization,
    Clients,
    Refused,
    authorization,
    form,
    query,
    target,
)

_ECHOED = (
    "response_type",
    "client_id",
    "redirect_uri",
    "scope",
    "state",
    "nonce",
    "code_challenge",
    "code_challenge_method",
    "ui_locales",
)
"""What the page hands back with the choice, which is then checked again."""


class SignInPage:
    """Answers at the authorization endpoint."""

    def __init__(
        self, issuer: str, base: str, clients: Clients, *, people: People, codes: Codes
    ) -> None:
        own = redirects.origin(issuer)
        self._origins = {own, own.replace("//127.0.0.1", "//localhost")}
        self._issuer = issuer
        self._base = base
        self._clients = clients
        self._people = people
        self._codes = codes
        self._pages = Pages(base)

    async def show(self, request: Request) -> Response:
        """Show who can sign in."""
        try:
            asked = query(request)
            client, redirect = target(asked, self._clients)
        except Refused as refused:
            return self._page_of(refused, request)
        try:
            authorization(asked, client, redirect)
        except Refused as refused:
            return self._told(refused, asked, redirect)
        page = self._pages.sign_in(
            self._people,
            {name: asked[name] for name in _ECHOED if name in asked},
            _language(request, asked),
            links={each: self._link(asked, each) for each in LANGUAGES},
        )
        return HTMLResponse(page, headers=policy(redirects.origin(redirect)))

    async def choose(self, request: Request) -> Response:
        """Send whoever was chosen back to the client, with a code."""
        try:
            self._check_origin(request)
            asked = await form(request)
            client, redirect = target(asked, self._clients)
        except Refused as refused:
            return self._page_of(refused, request)
        try:
            wanted = authorization(asked, client, redirect)
            answer = {"code": self._code(asked, wanted), "iss": self._issuer}
        except Refused as refused:
            return self._told(refused, asked, redirect)
        return self._redirected(redirect, answer, asked)

    def _check_origin(self, request: Request) -> None:
        """Refuse forms of other sites, which could sign someone in as whom they please."""
        if request.headers.get("origin") not in {None, *self._origins}:
            raise Refused("invalid_request", "another site sent this form", status=403)

    def _code(self, asked: Mapping[str, str], wanted: Authorization) -> str:
        person = self._people.find(asked.get("person", ""))
        if person is None:
            raise Refused("access_denied", "there is no such person")
        return self._codes.issue(person.subject, wanted)

    def _told(self, refused: Refused, asked: Mapping[str, str], redirect: str) -> Response:
        answer = {"error": refused.error, "error_description": refused.description}
        return self._redirected(redirect, {**answer, "iss": self._issuer}, asked)

    def _redirected(
        self, redirect: str, answer: Mapping[str, str], asked: Mapping[str, str]
    ) -> Response:
        state = {"state": asked["state"]} if "state" in asked else {}
        address = redirects.extended(redirect, {**answer, **state})
        return RedirectResponse(address, status_code=303, headers={"Cache-Control": "no-store"})

    def _page_of(self, refused: Refused, request: Request) -> Response:
        language = language_of("", request.headers.get("accept-language", ""))
        page = self._pages.refused(refused.description, language)
        return HTMLResponse(page, status_code=refused.status, headers=policy())

    def _link(self, asked: Mapping[str, str], language: Language) -> str:
        return f"{self._base}/authorize?{urlencode({**asked, 'ui_locales': language})}"


def _language(request: Request, asked: Mapping[str, str]) -> Language:
    return language_of(asked.get("ui_locales", ""), request.headers.get("accept-language", ""))
