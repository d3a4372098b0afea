"""The service itself."""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from api.models.base import Shown


class Health(Shown):
    """That the API answers."""

    status: Literal["ok"] = "ok"
    stage: str = Field(description="Where it runs", examples=["aws"])
    issuer: str = Field(description="The OpenID Connect issuer whose tokens it takes")
