"""The token endpoint: codes, refresh tokens and machines' secrets become tokens."""

from __future__ import annotations

from collections.abc import Mapping

from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import JSONResponse, Response

from localcloud.issuer.codes import Codes
from localcloud.issuer.machines import Machines
from localcloud.issuer.people import People
from localcloud.issuer.requests import Clients, Refused, credentials, form
from localcloud.issuer.tokens import Tokens
from stellwerk.kernel.errors import Unauthenticated
from stellwerk.kernel.json import JsonObject

_SECRET = {"Cache-Control": "no-store", "Pragma": "no-cache"}


class Exchange:
    """Answers what clients send to the token and revocation endpoints."""

    def __init__(
        self, clients: Clients, *, codes: Codes, tokens: Tokens, people: People, machines: Machines
    ) -> None:
        self._clients = clients
        self._codes = codes
        self._tokens = tokens
        self._people = people
        self._machines = machines

    async def token(self, request: Request) -> Response:
        """Answer with tokens, or an error of the protocol."""
        try:
            sent = await form(request)
            client, secret = credentials(request, sent)
            answer = await run_in_threadpool(self._tokens_for, sent, client, secret)
        except Refused as refused:
            return error(refused)
        return JSONResponse(answer, headers=_SECRET)

    async def revoke(self, request: Request) -> Response:
        """Revoke a refresh token; what is none is revoked already (RFC 7009)."""
        try:
            sent = await form(request)
        except Refused as refused:
            return error(refused)
        self._tokens.revoke(sent.get("token", ""))
        return Response(headers=_SECRET)

    def _tokens_for(self, sent: Mapping[str, str], client: str, secret: str) -> JsonObject:
        grant = sent.get("grant_type", "")
        if grant == "client_credentials":
            return self._machine(client, secret)
        if client not in self._clients:
            raise Refused("invalid_client", "no such client", status=401)
        if grant == "authorization_code":
            return self._code(sent, client)
        if grant == "refresh_token":
            return self._tokens.refreshed(sent.get("refresh_token", ""), client)
        raise Refused("unsupported_grant_type", f"grant_type '{grant}' is not known here")

    def _code(self, sent: Mapping[str, str], client: str) -> JsonObject:
        signed_in = self._codes.redeem(
            sent.get("code", ""),
            client=client,
            redirect=sent.get("redirect_uri", ""),
            verifier=sent.get("code_verifier", ""),
        )
        person = self._people.find(signed_in.subject)
        if person is None:
            raise Refused("invalid_grant", "this person cannot sign in any more")
        return self._tokens.signed_in(signed_in, person)

    def _machine(self, client: str, secret: str) -> JsonObject:
        try:
            machine = self._machines.machine(client, secret)
        except Unauthenticated as error:
            raise Refused("invalid_client", error.message, status=401) from error
        return self._tokens.of_machine(machine.subject)


def error(refused: Refused) -> Response:
    """Return a refusal as the protocol writes it."""
    headers = dict(_SECRET)
    if refused.status == 401:
        headers["WWW-Authenticate"] = "Basic"
    body = {"error": refused.error, "error_description": refused.description}
    return JSONResponse(body, status_code=refused.status, headers=headers)
