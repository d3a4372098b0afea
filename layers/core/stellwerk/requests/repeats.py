"""Requests that are sent twice, because the answer to the first was lost on the way.

The key is taken before anything happens, and the answer kept with it. A request that is refused has
changed nothing: its key is free again. One whose process died frees its key when its lease is over.
"""

from __future__ import annotations

from collections.abc import Callable
from datetime import timedelta

from stellwerk.kernel.clock import Clock
from stellwerk.kernel.errors import BadInput, Conflict
from stellwerk.requests.model import Answer, Repeat
from stellwerk.requests.ports import Repeats
from stellwerk.tenancy.scope import Scope

LIFE = timedelta(days=1)
LEASE = timedelta(seconds=60)
"""Longer than a request can take: API Gateway gives up after 30 s."""


class KeyOfAnother(BadInput):
    """The idempotency key came with another request before."""


class UnderWay(Conflict):
    """A request with the same idempotency key has not been answered yet."""


class Once:
    """Lets a request happen once per key."""

    def __init__(self, repeats: Repeats, clock: Clock) -> None:
        self._repeats = repeats
        self._clock = clock

    def answer(
        self, scope: Scope, key: str, fingerprint: str, act: Callable[[], Answer]
    ) -> tuple[Answer, bool]:
        """Return the answer of `act`, or of the request that came before, and whether it is that.

        Raises KeyOfAnother, UnderWay, and what `act` raises.
        """
        found = self._repeats.find(scope, key)
        now = self._clock.now()
        if found is not None and found.expires > now:
            if found.fingerprint != fingerprint:
                raise KeyOfAnother(
                    f"The idempotency key '{key}' came with another request before.",
                    remedy="Use a new key for each thing that you create.",
                )
            if found.answer is not None:
                return found.answer, True
            if found.lease > now:
                raise _under_way(key)
        taken = self._take(scope, key, fingerprint, found)
        return self._act(scope, taken, act), False

    def _take(self, scope: Scope, key: str, fingerprint: str, found: Repeat | None) -> Repeat:
        now = self._clock.now()
        begun = Repeat(
            revision=found.revision if found else 0,
            user=scope.user,
            key=key,
            fingerprint=fingerprint,
            lease=now + LEASE,
            expires=now + LIFE,
        )
        try:
            return self._repeats.write(scope, begun)
        except Conflict as conflict:
            raise _under_way(key) from conflict

    def _act(self, scope: Scope, taken: Repeat, act: Callable[[], Answer]) -> Answer:
        try:
            answer = act()
        except Exception:
            self._repeats.forget(scope, taken)
            raise
        self._repeats.write(scope, taken.model_copy(update={"answer": answer}))
        return answer


def _under_way(key: str) -> UnderWay:
    return UnderWay(
        f"The request with the idempotency key '{key}' is still under way.",
        remedy="Wait for its answer, or repeat it in a minute.",
    )
