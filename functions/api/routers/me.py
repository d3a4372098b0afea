"""Whoever is signed in."""

from __future__ import annotations

from fastapi import Request
from starlette.responses import Response

from api.backend import Here
from api.caller import Signed
from api.conditions import Matching, tag_of
from api.models.me import Me, MeChanges, User
from api.operations import operations
from api.rendering import shown

router = operations(tags=["me"])


@router.get("/me", response_model=Me)
def get_me(here: Here, claims: Signed) -> Response:
    """Show you, everywhere you belong, and what you see there."""
    found = here.administration.signin.me(claims)
    return shown(Me.of(found), tag=tag_of(found.user))


@router.patch("/me", response_model=User)
def update_me(
    request: Request, here: Here, claims: Signed, match: Matching, body: MeChanges
) -> Response:
    """Change your name or language. The ETag is that of GET /me."""
    user = match.edit_read(
        lambda: here.administration.signin.user(claims),
        User.of,
        lambda revision: here.administration.profiles.update(
            here.administration.signin.platform(claims, request=request.state.request_id),
            revision,
            name=body.name,
            language=body.language,
        ),
    )
    return shown(User.of(user), tag=tag_of(user))
