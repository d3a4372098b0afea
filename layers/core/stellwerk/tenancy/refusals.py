"""Refusals: what access rules keep someone from doing or seeing is audited, once."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from stellwerk.kernel.errors import Forbidden, NotFound
from stellwerk.tenancy.auditing import Audit
from stellwerk.tenancy.scope import Scope


@contextmanager
def noted(audit: Audit, scope: Scope, action: str, thing: str = "") -> Iterator[None]:
    """Run the block; a refusal by access rules is written into the audit and goes on.

    So is one that shows as NotFound, whose cause it then is.
    """
    try:
        yield
    except (Forbidden, NotFound) as error:
        note(audit, scope, action, thing, error=error)
        raise


def note(audit: Audit, scope: Scope, action: str, thing: str, *, error: BaseException) -> None:
    """Write the refusal by access rules that an error is, if it is one and is not written yet."""
    refusal = refusal_of(error)
    if refusal is not None and not refusal.recorded:
        audit.denied(scope, action, thing, refusal.message)
        refusal.recorded = True


def refusal_of(error: BaseException) -> Forbidden | None:
    """Return the refusal by access rules that an error is, or that it hides from the caller."""
    refusal = error if isinstance(error, Forbidden) else error.__cause__
    return refusal if isinstance(refusal, Forbidden) else None
