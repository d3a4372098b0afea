"""What someone may give away: nobody gives more than he holds."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from stellwerk.kernel.errors import Forbidden
from stellwerk.tenancy.access import AccessRule, Context, Verb, decide
from stellwerk.tenancy.scope import Scope


def require_reach(scope: Scope, rules: Iterable[AccessRule]) -> None:
    """Raise Forbidden, naming all of them, for rules that grant what the scope's user may not do.

    Pages are left out: to see one lets nobody do anything.
    """
    beyond = list(dict.fromkeys(_beyond(scope, rules)))
    if beyond:
        raise Forbidden(
            f"You may not give what you do not hold here: {', '.join(beyond)}.",
            remedy="Leave these out, or ask someone who holds them.",
        )


def _beyond(scope: Scope, rules: Iterable[AccessRule]) -> Iterator[str]:
    for rule in rules:
        if rule.context is Context.UI:
            continue
        for verb in Verb:
            own = decide(scope.principal, rule.context, rule.item, verb, place=scope.place)
            if rule.level(verb).rank > own.level.rank:
                yield f"{rule.context} {verb} '{rule.item}' ({rule.level(verb)})"
