"""Whether the API answers."""

from __future__ import annotations

from starlette.responses import Response

from api.backend import Here
from api.models.system import Health
from api.operations import operations
from api.rendering import shown

router = operations(tags=["system"])


@router.get("/health", response_model=Health)
def get_health(here: Here) -> Response:
    """Say that the API answers, and whose tokens it takes. Needs no token."""
    return shown(Health(stage=here.settings.stage, issuer=here.settings.issuer))
