"""Who a verified token speaks for."""

from __future__ import annotations

from datetime import datetime
from typing import Literal

from pydantic import BaseModel, ConfigDict


class Claims(BaseModel):
    """What an access token says once its signature, issuer, client, use and times were checked.

    A machine's token has its client for subject. What an issuer leaves out is "".
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    issuer: str
    subject: str
    client_id: str
    """Through which application the person came, or which machine it is."""
    kind: Literal["person", "machine"] = "person"
    expires: datetime
    email: str = ""
    email_verified: bool = False
    """Whether the issuer vouches for the address; only then may it stand for the person."""
    name: str = ""
