"""Where expressions stand in a text: between `{{` and the `}}` that is not inside them."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import lru_cache
from typing import TypeAlias

OPEN, CLOSE = "{{", "}}"
LONGEST = 10_000
LITERAL = 'To write two braces as text, put {{ "{{" }}.'
_OPERATORS = {"and", "or", "in"}
_TOKEN = re.compile(
    r"""
    (?P<quoted>"(?:[^"\\]|\\.)*"|'(?:[^'\\]|\\.)*'|`[^`]*`)
  | (?P<blank>\s+|/\*.*?\*/)
  | (?P<word>[\w$.]+)
  | (?P<unclosed>["'`]|/\*)
  | (?P<sign>.)
    """,
    re.VERBOSE | re.DOTALL,
)


@dataclass(frozen=True)
class Expression:
    """The JSONata text between two pairs of braces."""

    source: str


Parts: TypeAlias = tuple[str | Expression, ...]


class Malformed(ValueError):
    """An expression cannot be read; `remedy` says how to mend it."""

    def __init__(self, message: str, *, remedy: str = "") -> None:
        super().__init__(message)
        self.message = message
        self.remedy = remedy


def present(text: str) -> bool:
    """Say whether `text` holds an expression, well formed or not."""
    return OPEN in text


@lru_cache(maxsize=4096)
def split(text: str) -> Parts:
    """Return the pieces of `text`, plain ones as `str`; raise Malformed if braces do not close."""
    parts: list[str | Expression] = []
    position = 0
    while (start := text.find(OPEN, position)) >= 0:
        end = _closing(text, start + len(OPEN))
        parts += [text[position:start]] if start > position else []
        parts.append(_expression(text[start + len(OPEN) : end]))
        position = end + len(CLOSE)
    parts += [text[position:]] if position < len(text) else []
    return tuple(parts)


def whole(text: str) -> Expression | None:
    """Return the expression if `text` is exactly one, which keeps its type; raise Malformed."""
    parts = split(text)
    only = parts[0] if len(parts) == 1 else None
    return only if isinstance(only, Expression) else None


def bare(text: str) -> str:
    """Return the JSONata of a raw parameter, with or without braces; raise Malformed."""
    if not present(text):
        return _expression(text).source
    only = whole(text)
    if only is None:
        raise Malformed("takes one expression without text around it", remedy="Remove the text.")
    return only.source


def _expression(source: str) -> Expression:
    if len(source) > LONGEST:
        message = f"has {len(source)} characters; at most {LONGEST} are allowed"
        raise Malformed(
            message, remedy="Move a part into a node of type data.set or data.transform."
        )
    if not source.strip():
        raise Malformed("is empty", remedy=f"Write an expression such as $input. {LITERAL}")
    return Expression(source.strip())


def _closing(text: str, position: int) -> int:
    """Return where the braces that were opened before `position` close."""
    depth, operand = 0, False
    while (token := _TOKEN.match(text, position)) is not None:
        kind, value = token.lastgroup, token.group()
        if value == "}" and depth == 0:
            return _certain_end(text, position)
        if kind == "unclosed":
            what = "comment" if value == "/*" else f"quoted text ({value})"
            raise Malformed(f"has a {what} that does not end", remedy="Close it.")
        depth += {"{": 1, "}": -1}.get(value, 0)
        is_pattern = value == "/" and not operand
        position = _after_pattern(text, token.end()) if is_pattern else token.end()
        operand = operand if kind == "blank" else is_pattern or _is_operand(kind, value)
    raise Malformed("is not closed: }} is missing", remedy=f"Close it with }}}}. {LITERAL}")


def _certain_end(text: str, position: int) -> int:
    if not text.startswith(CLOSE, position):
        raise Malformed(
            "has a } that nothing opens", remedy="Remove it, or end the expression by }}."
        )
    return position


def _is_operand(kind: str | None, value: str) -> bool:
    """Say whether a slash after this token divides; else it begins a pattern."""
    if kind == "sign":
        return value in ")]}"
    return value not in _OPERATORS


def _after_pattern(text: str, position: int) -> int:
    """Return where the regular expression that begins at `position` ends, as JSONata scans it."""
    depth = 0
    while position < len(text):
        sign = text[position]
        if sign == "/" and depth == 0:
            return position + 1
        depth += (sign in "([{") - (sign in ")]}")
        position += 2 if sign == "\\" else 1
    raise Malformed("has a pattern (/) that does not end", remedy="Close it with /.")
