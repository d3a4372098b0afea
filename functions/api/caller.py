"""Who asks, and where: from the token to the scope in which services act."""

from __future__ import annotations

from typing import Annotated

from fastapi import Depends, Path, Request, Security
from fastapi.security import HTTPAuthorizationCredentials, HTTPBearer

from api.backend import backend
from stellwerk.kernel.errors import Unauthenticated
from stellwerk.kernel.ids import InstanceId, MandateId, UserId
from stellwerk.tenancy.claims import Claims
from stellwerk.tenancy.scope import Scope

ID = r"^[A-Za-z0-9_-]{1,64}$"
"""What ids look like. Anything else is found nowhere."""

_BEARER = HTTPBearer(
    scheme_name="token",
    bearerFormat="JWT",
    description="An access token of the deployment's OpenID Connect issuer.",
    auto_error=False,
)


def claims(
    request: Request,
    header: Annotated[HTTPAuthorizationCredentials | None, Security(_BEARER)],
) -> Claims:
    """Return what the request's token says, and count the request.

    Raises Unauthenticated; TooManyRequests, before anything is read, for a principal who asks too
    often.
    """
    if header is None:
        raise Unauthenticated(
            "The request carries no access token.",
            remedy="Sign in, and send the header 'Authorization: Bearer TOKEN'.",
        )
    verified = backend(request).tokens.verify(header.credentials)
    backend(request).services.requests.limits.take(UserId(verified.subject))
    return verified


Signed = Annotated[Claims, Depends(claims)]
MandateInPath = Annotated[MandateId, Path(pattern=ID, description="Id of a mandate")]
InstanceInPath = Annotated[InstanceId, Path(pattern=ID, description="Id of a feature instance")]


def mandate_scope(request: Request, mandate: MandateInPath, claims: Signed) -> Scope:
    """Return the scope of the caller in a mandate; raises NotFound where he does not belong."""
    return _scope(request, claims, mandate, None)


def instance_scope(
    request: Request, mandate: MandateInPath, instance: InstanceInPath, claims: Signed
) -> Scope:
    """Return the scope of the caller in an instance; raises NotFound where he may not come in."""
    return _scope(request, claims, mandate, instance)


def outside_scope(request: Request, claims: Signed) -> Scope:
    """Return the scope of the caller outside of all mandates, where global roles count."""
    signin = backend(request).services.administration.signin
    return _remembered(request, signin.platform(claims, request=request.state.request_id))


def _scope(
    request: Request, claims: Claims, mandate: MandateId, instance: InstanceId | None
) -> Scope:
    signin = backend(request).services.administration.signin
    scope = signin.scope(claims, mandate, instance, request=request.state.request_id)
    return _remembered(request, scope)


def _remembered(request: Request, scope: Scope) -> Scope:
    """Keep the scope with the request, for the audit where the request comes to be refused."""
    request.state.scope = scope
    return scope


InMandate = Annotated[Scope, Depends(mandate_scope)]
Outside = Annotated[Scope, Depends(outside_scope)]
InInstance = Annotated[Scope, Depends(instance_scope)]


def place(scope: Scope) -> str:
    """Return the path below which the scope's things are found."""
    mandate = f"/api/v1/mandates/{scope.mandate}"
    return f"{mandate}/instances/{scope.instance}" if scope.instance else mandate
