"""What IAM answers: our own reading of how policies are evaluated, as far as ours go.

An operator or element that it does not know is an error: a policy that cannot be judged here must
not pass for safe.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from fnmatch import fnmatchcase

from scripts.policies import Document, Statement

Context = Mapping[str, tuple[str, ...]]
"""Values of condition keys; a key that is absent has no entry. Names in any case."""
_VARIABLE = re.compile(r"(\$\{[^}]+\})")


@dataclass(frozen=True)
class Principal:
    """Who asks."""

    arn: str
    policies: tuple[Document, ...]
    tags: Mapping[str, str] = field(default_factory=dict)
    service: bool = False


@dataclass(frozen=True)
class Request:
    """What is asked."""

    action: str
    resource: str
    context: Context = field(default_factory=dict)


def allowed(who: Principal, request: Request, on_resource: Sequence[Document] = ()) -> bool:
    """Whether some identity policy allows it and nothing denies it; deny by default."""
    context = _full_context(who, request)
    own = [each for document in who.policies for each in document.statements]
    there = [each for document in on_resource for each in document.statements if _names(each, who)]
    matching = [each for each in [*own, *there] if _applies(each, request, context)]
    if any(each.effect == "Deny" for each in matching):
        return False
    return any(each.effect == "Allow" for each in matching)


def trusts(trust: Document, who: Principal, request: Request) -> bool:
    """Whether a role's trust policy lets `who` do `request` (assume it, tag the session)."""
    context = _full_context(who, request)
    matching = [
        each
        for each in trust.statements
        if _names(each, who) and _does(each, request) and _holds(each, context)
    ]
    if any(each.effect == "Deny" for each in matching):
        return False
    return any(each.effect == "Allow" for each in matching)


def _full_context(who: Principal, request: Request) -> Context:
    tags = {f"aws:PrincipalTag/{name}": (value,) for name, value in who.tags.items()}
    return {key.lower(): values for key, values in {**tags, **request.context}.items()}


def _names(statement: Statement, who: Principal) -> bool:
    principal = statement.principal
    if principal is None:
        raise ValueError(f"{statement.sid}: a policy that lies with a resource names nobody")
    if who.service:
        return who.arn in principal.get("Service", ()) or principal.get("AWS") == ("*",)
    named = principal.get("AWS", ())
    return "*" in named or who.arn in named


def _applies(statement: Statement, request: Request, context: Context) -> bool:
    return (
        _does(statement, request)
        and _touches(statement, request, context)
        and _holds(statement, context)
    )


def _does(statement: Statement, request: Request) -> bool:
    action = request.action.lower()
    if statement.not_action:
        return not any(fnmatchcase(action, each.lower()) for each in statement.not_action)
    return any(fnmatchcase(action, each.lower()) for each in statement.action)


def _touches(statement: Statement, request: Request, context: Context) -> bool:
    if statement.not_resource:
        return not any(_like(each, request.resource, context) for each in statement.not_resource)
    return any(_like(each, request.resource, context) for each in statement.resource)


def _holds(statement: Statement, context: Context) -> bool:
    return all(
        _condition(operator, key, wanted, context)
        for operator, keys in statement.condition.items()
        for key, wanted in keys.items()
    )


def _condition(operator: str, key: str, wanted: tuple[str, ...], context: Context) -> bool:
    given = context.get(key.lower(), ())
    if operator == "Null":
        return (not given) == (wanted == ("true",))
    quantifier, _, plain = operator.rpartition(":")
    negated, compare = _OPERATORS[plain]

    def holds(value: str) -> bool:
        return any(compare(each, value, context) for each in wanted) is not negated

    match quantifier:
        case "ForAllValues":
            return all(holds(value) for value in given)
        case "ForAnyValue":
            return any(holds(value) for value in given)
        case "":
            return holds(given[0]) if given else negated
        case _:
            raise ValueError(f"nobody knows the condition operator {operator}")


def _like(pattern: str, value: str, context: Context) -> bool:
    return _matches(pattern, value, context, wildcards=True)


def _equal(pattern: str, value: str, context: Context) -> bool:
    return _matches(pattern, value, context, wildcards=False)


def _matches(pattern: str, value: str, context: Context, *, wildcards: bool) -> bool:
    """Compare; a variable stands for its value, in which nothing is a wildcard.

    A variable without a value matches nothing.
    """
    expression = ""
    for part in _VARIABLE.split(pattern):
        if part.startswith("${"):
            known = context.get(part[2:-1].lower())
            if known is None:
                return False
            expression += re.escape(known[0])
        elif wildcards:
            expression += re.escape(part).replace(r"\*", ".*").replace(r"\?", ".")
        else:
            expression += re.escape(part)
    return re.fullmatch(expression, value, re.DOTALL) is not None


_OPERATORS: dict[str, tuple[bool, Callable[[str, str, Context], bool]]] = {
    "StringEquals": (False, _equal),
    "StringNotEquals": (True, _equal),
    "StringLike": (False, _like),
    "StringNotLike": (True, _like),
    "Bool": (False, _equal),
}
