"""Access tokens carry the address that the user pool has confirmed."""

from __future__ import annotations

import json
from pathlib import Path

from system.token_claims.handler import TokenEvent, handler

EVENT = Path(__file__).parents[2] / "events" / "cognito.access_token.json"


def event() -> TokenEvent:
    found: TokenEvent = json.loads(EVENT.read_text(encoding="utf-8"))
    return found


def test_an_access_token_gets_address_and_name() -> None:
    answer = handler(event(), None)
    assert answer["response"] == {
        "claimsAndScopeOverrideDetails": {
            "accessTokenGeneration": {
                "claimsToAddOrOverride": {
                    "email": "anna@example.org",
                    "email_verified": "true",
                    "name": "Anna",
                }
            }
        }
    }


def test_what_the_pool_does_not_know_is_left_out() -> None:
    bare = event()
    bare["request"] = {"userAttributes": {"sub": "1"}}
    assert '"claimsToAddOrOverride": {}' in json.dumps(handler(bare, None)["response"])
