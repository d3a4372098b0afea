"""Sends a message, follows redirects, and says in its errors whether anything may have happened."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass, replace

from stellwerk.kernel.errors import EffectUncertain, PermanentError, ServiceUnavailable
from stellwerk.runs.deadline import Deadline
from stellwerk.toolboxes.exchange import Interrupted, Message, Reply, exchange
from stellwerk.toolboxes.targets import Target, target_of

_REDIRECTS = {301, 302, 303, 307, 308}
_KEEP_METHOD = {307, 308}
_SAFE_ELSEWHERE = {"user-agent", "accept", "accept-encoding", "accept-language", "content-type"}
"""Headers that another service may see when a redirect leads there."""


@dataclass(frozen=True)
class Client:
    """How requests of one step are sent; `repeatable` says that a second one does no harm."""

    deadline: Deadline
    allowed: Collection[str]
    most: int
    redirects: int
    repeatable: bool

    def send(self, url: str, message: Message) -> tuple[Target, Reply]:
        """Return the last reply, and where it came from."""
        target = target_of(url, self.allowed)
        for _ in range(self.redirects + 1):
            reply = self._once(target, message)
            location = reply.headers.get("location")
            if reply.status not in _REDIRECTS or not location or not self.redirects:
                return target, reply
            onward = target.at(location, self.allowed)
            message = _redirected(message, reply.status, elsewhere=not target.same_place(onward))
            target = onward
        raise PermanentError(
            f"{url} redirects more than {self.redirects} times.",
            remedy="Call the final address directly.",
        )

    def _once(self, target: Target, message: Message) -> Reply:
        try:
            return exchange(target, message, self.deadline, most=self.most)
        except Interrupted as error:
            what = f"{message.method} {target.shown}: {error}."
            if self.repeatable:
                raise ServiceUnavailable(what, remedy="Try again later.") from error
            raise EffectUncertain(
                what, remedy="Look at the service whether it has happened."
            ) from error


def _redirected(message: Message, status: int, *, elsewhere: bool) -> Message:
    headers: Mapping[str, str] = message.headers
    if elsewhere:
        headers = {name: headers[name] for name in headers if name in _SAFE_ELSEWHERE}
    if status in _KEEP_METHOD or message.method in {"GET", "HEAD"}:
        return replace(message, headers=headers)
    headers = {name: value for name, value in headers.items() if name != "content-type"}
    return Message("GET", headers, None)
