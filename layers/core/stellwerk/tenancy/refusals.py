"""Refusals of reads: what access rules keep someone from seeing is audited too."""

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
        refusal = error if isinstance(error, Forbidden) else error.__cause__
        if isinstance(refusal, Forbidden):
            audit.denied(scope, action, thing, refusal.message)
        raise
