"""Completes the access tokens of the user pool, which by themselves name only a subject.

Called by Cognito before it signs a token; what it cannot read it leaves as it is. Imports nothing:
people wait for it while they sign in.
"""

from __future__ import annotations

from typing import TypedDict

CLAIMS = ("email", "email_verified", "name")
"""What the API reads to find an invited person; the pool vouches for the address."""


class Request(TypedDict):
    """What Cognito tells of the user."""

    userAttributes: dict[str, str]


class TokenEvent(TypedDict):
    """Cognito's event before a token, in its second version."""

    request: Request
    response: dict[str, object]


def handler(event: TokenEvent, context: object) -> TokenEvent:
    """Return the event with the claims that the access token gets besides."""
    known = event["request"].get("userAttributes", {})
    claims = {name: known[name] for name in CLAIMS if name in known}
    event["response"] = {
        "claimsAndScopeOverrideDetails": {
            "accessTokenGeneration": {"claimsToAddOrOverride": claims}
        }
    }
    return event
