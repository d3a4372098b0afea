"""Where people without an account may decide: each mandate says so for itself."""

from __future__ import annotations

from stellwerk.kernel.errors import NotFound
from stellwerk.tenancy.ports import Mandates
from stellwerk.tenancy.scope import Scope


class KnownGuests:
    """Asks the mandate. Requests: 1."""

    def __init__(self, mandates: Mandates) -> None:
        self._mandates = mandates

    def allowed(self, scope: Scope) -> bool:
        """Say whether the scope's mandate, which must be active, lets guests decide."""
        try:
            mandate = self._mandates.mandate(scope)
        except NotFound:
            return False
        return mandate.active and mandate.guests
