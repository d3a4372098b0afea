"""Patterns of events, as in EventBridge: each field that is named must match one of its rules.

A pattern is an object like the event. A leaf is a list of values and rules: `prefix`, `suffix`,
`equals-ignore-case`, `wildcard`, `anything-but`, `numeric`, `exists`. A field that is a list
matches if one of its items does. `$or` holds a list of patterns of which one must match.
(No library: those on PyPI are parts of mock servers, or unmaintained.)
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence

from stellwerk.kernel.errors import BadInput
from stellwerk.kernel.json import JsonObject, JsonValue

OR = "$or"
_DEEPEST = 20
_ABSENT = object()


def matches(pattern: JsonObject, event: JsonValue) -> bool:
    """Say whether the event fits; the pattern must be one that `check_pattern` takes."""
    return all(_field(name, wanted, event) for name, wanted in pattern.items())


def check_pattern(pattern: JsonValue, place: str = "pattern", depth: int = 0) -> None:
    """Raise BadInput, naming the place, where a pattern has what nothing can match."""
    if not isinstance(pattern, dict) or not pattern or depth > _DEEPEST:
        raise _fault(place, "must be an object with at least one field, not nested too deep")
    for name, wanted in pattern.items():
        inner = f"{place}.{name}"
        if name == OR:
            if not isinstance(wanted, list) or len(wanted) < 2:
                raise _fault(inner, "must be a list of two patterns or more")
            for index, other in enumerate(wanted):
                check_pattern(other, f"{inner}[{index}]", depth + 1)
        elif isinstance(wanted, list):
            _check_leaf(wanted, inner)
        else:
            check_pattern(wanted, inner, depth + 1)


def values_of(pattern: JsonObject, name: str) -> Sequence[str] | None:
    """Return the texts that a field may be; None where it may be others."""
    wanted = pattern.get(name)
    if not isinstance(wanted, list):
        return None
    texts = [value for value in wanted if isinstance(value, str)]
    return texts if len(texts) == len(wanted) else None


def _field(name: str, wanted: JsonValue, event: JsonValue) -> bool:
    if name == OR and isinstance(wanted, list):
        return any(isinstance(other, dict) and matches(other, event) for other in wanted)
    found: object = event.get(name, _ABSENT) if isinstance(event, dict) else _ABSENT
    if isinstance(wanted, dict):
        inner = found if isinstance(found, list) else [found]
        return any(matches(wanted, _plain(one)) for one in inner)
    if not isinstance(wanted, list):
        return False
    given = found if isinstance(found, list) and found else [found]
    return any(_rule(rule, value) for rule in wanted for value in given)


def _plain(found: object) -> JsonValue:
    return found if isinstance(found, dict) else {}


def _rule(rule: JsonValue, value: object) -> bool:
    if not isinstance(rule, dict):
        return _equal(rule, value)
    ((name, argument),) = rule.items()
    if name == "exists":
        return (value is not _ABSENT and not isinstance(value, dict)) is argument
    return value is not _ABSENT and _RULES[name](argument, value)


def _equal(rule: JsonValue, value: object) -> bool:
    """Say whether two values are the same in JSON, where true is no number."""
    return isinstance(rule, bool) is isinstance(value, bool) and rule == value


def _but(argument: JsonValue, value: object) -> bool:
    if isinstance(argument, dict):
        ((name, inner),) = argument.items()
        texts = inner if isinstance(inner, list) else [inner]
        return not any(_RULES[name](text, value) for text in texts)
    excluded = argument if isinstance(argument, list) else [argument]
    return not any(_equal(each, value) for each in excluded)


def _numeric(argument: JsonValue, value: object) -> bool:
    if isinstance(value, bool) or not isinstance(value, int | float):
        return False
    return isinstance(argument, list) and all(
        _COMPARE[sign](value, bound) for sign, bound in _pairs(argument)
    )


def _pairs(argument: Sequence[JsonValue]) -> Iterator[tuple[str, float]]:
    for sign, bound in zip(argument[::2], argument[1::2], strict=True):
        assert isinstance(bound, int | float)
        yield str(sign), bound


def _text(test: Callable[[str, str], bool]) -> Callable[[JsonValue, object], bool]:
    def rule(argument: JsonValue, value: object) -> bool:
        return isinstance(argument, str) and isinstance(value, str) and test(value, argument)

    return rule


def _folded(test: Callable[[str, str], bool]) -> Callable[[JsonValue, object], bool]:
    """Return a rule that also takes {"equals-ignore-case": text} in place of a text."""

    def rule(argument: JsonValue, value: object) -> bool:
        if isinstance(argument, dict) and isinstance(value, str):
            folded = str(argument.get(_IGNORE_CASE, "")).casefold()
            return test(value.casefold(), folded)
        return isinstance(argument, str) and isinstance(value, str) and test(value, argument)

    return rule


def _wild(value: str, pattern: str) -> bool:
    """Say whether `*` can stand for what is between the parts; in time that grows with both."""
    first, *rest = pattern.split("*")
    if not rest:
        return value == first
    *middle, last = rest
    place = len(first)
    for part in middle:
        found = value.find(part, place)
        if found < 0:
            return False
        place = found + len(part)
    enough = len(value) - len(last) >= place
    return enough and value.startswith(first) and value.endswith(last)


_IGNORE_CASE = "equals-ignore-case"
_COMPARE: Mapping[str, Callable[[float, float], bool]] = {
    "<": lambda value, bound: value < bound,
    "<=": lambda value, bound: value <= bound,
    ">": lambda value, bound: value > bound,
    ">=": lambda value, bound: value >= bound,
    "=": lambda value, bound: value == bound,
}
_RULES: Mapping[str, Callable[[JsonValue, object], bool]] = {
    "prefix": _folded(str.startswith),
    "suffix": _folded(str.endswith),
    _IGNORE_CASE: _text(lambda value, wanted: value.casefold() == wanted.casefold()),
    "wildcard": _text(_wild),
    "anything-but": _but,
    "numeric": _numeric,
}


def _check_leaf(rules: Sequence[JsonValue], place: str) -> None:
    if not rules:
        raise _fault(place, "must name at least one value or rule")
    for index, rule in enumerate(rules):
        if isinstance(rule, list):
            raise _fault(f"{place}[{index}]", "must be a value or a rule, not a list")
        if isinstance(rule, dict):
            _check_rule(rule, f"{place}[{index}]")


def _check_rule(rule: JsonObject, place: str) -> None:
    name = next(iter(rule), "")
    if len(rule) != 1 or not (name in _RULES or name == "exists"):
        known = ", ".join(sorted({*_RULES, "exists"}))
        raise _fault(place, f"must be one rule of: {known}")
    argument = rule[name]
    if name == "exists" and isinstance(argument, bool):
        return
    if name == "numeric" and _is_numeric(argument):
        return
    if name == "anything-but" and _is_but(argument):
        return
    if name in {"prefix", "suffix"} and _is_folded(argument):
        return
    if name == "wildcard" and isinstance(argument, str) and "**" not in argument:
        if argument.count("*") <= 3:
            return
    elif name == _IGNORE_CASE and isinstance(argument, str):
        return
    raise _fault(f"{place}.{name}", "has an argument that this rule does not take")


def _is_folded(argument: JsonValue) -> bool:
    if isinstance(argument, dict):
        return list(argument) == [_IGNORE_CASE] and isinstance(argument[_IGNORE_CASE], str)
    return isinstance(argument, str)


def _is_numeric(argument: JsonValue) -> bool:
    if not isinstance(argument, list) or len(argument) not in {2, 4}:
        return False
    signs, bounds = argument[::2], argument[1::2]
    return all(isinstance(sign, str) and sign in _COMPARE for sign in signs) and all(
        isinstance(bound, int | float) and not isinstance(bound, bool) for bound in bounds
    )


def _is_but(argument: JsonValue) -> bool:
    if isinstance(argument, dict):
        name = next(iter(argument), "")
        inner = argument.get(name)
        texts = inner if isinstance(inner, list) else [inner]
        known = {"prefix", "suffix", "wildcard", _IGNORE_CASE}
        return len(argument) == 1 and name in known and _are_texts(texts)
    values = argument if isinstance(argument, list) else [argument]
    return bool(values) and all(isinstance(value, str | int | float) for value in values)


def _are_texts(values: Sequence[JsonValue]) -> bool:
    return bool(values) and all(isinstance(value, str) for value in values)


def _fault(place: str, rule: str) -> BadInput:
    return BadInput(f"{place} {rule}.", remedy="See docs/triggers/event.md.")
