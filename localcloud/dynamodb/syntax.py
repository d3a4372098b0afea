"""Tokens of the expression language, and what every expression has: paths and placeholders."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import cache
from typing import TypeAlias

from moto.dynamodb.parsing.reserved_keywords import ReservedKeywords

from localcloud.dynamodb.errors import Invalid
from localcloud.dynamodb.values import Item, Value

_TOKEN = re.compile(
    r"\s*(?:(?P<word>[#:]?[A-Za-z0-9_][A-Za-z0-9_\-]*)|(?P<mark><>|<=|>=|[=<>(),.\[\]+\-]))"
)
EXPRESSION_BYTES = 4096

Path: TypeAlias = tuple[str | int, ...]
"""Names, as written, and positions in lists."""


@dataclass(frozen=True)
class Bound:
    """What an expression is evaluated with: an item and the request's placeholders."""

    item: Item
    names: Mapping[str, str]
    values: Mapping[str, Value]

    def value(self, placeholder: str) -> Value:
        """Return the value of `:placeholder`."""
        if placeholder not in self.values:
            raise Invalid(
                "An expression attribute value used in expression is not defined; attribute "
                f"value: {placeholder}"
            )
        return self.values[placeholder]

    def path(self, path: Path) -> Path:
        """Return `path` with the names that its `#placeholders` stand for."""
        return tuple(self._name(part) if isinstance(part, str) else part for part in path)

    def at(self, path: Path) -> Value | None:
        """Return what the item has at `path`."""
        return look(self.item, self.path(path))

    def _name(self, name: str) -> str:
        if not name.startswith("#"):
            return name
        if name not in self.names:
            raise Invalid(
                "An expression attribute name used in the document path is not defined; "
                f"attribute name: {name}"
            )
        return self.names[name]


Operand: TypeAlias = Callable[[Bound], "Value | None"]


@cache
def _reserved() -> frozenset[str]:
    return frozenset(ReservedKeywords.get_reserved_keywords())


def look(item: Mapping[str, Value], path: Path) -> Value | None:
    """Return the value at a path, or None if there is none."""
    found = item.get(str(path[0]))
    for part in path[1:]:
        if found is None:
            return None
        if isinstance(part, int):
            members = found.get("L", ())
            found = members[part] if part < len(members) else None
        else:
            found = found.get("M", {}).get(part)
    return found


@dataclass
class Reader:
    """Reads the tokens of one expression from left to right."""

    text: str
    tokens: list[str] = field(default_factory=list)
    names: set[str] = field(default_factory=set)
    values: set[str] = field(default_factory=set)
    place: int = 0

    def __post_init__(self) -> None:
        if not self.text.strip():
            raise Invalid("The expression can not be empty;")
        if len(self.text.encode()) > EXPRESSION_BYTES:
            raise Invalid(f"Expression size has exceeded {EXPRESSION_BYTES} bytes")
        at = 0
        text = self.text.rstrip()
        while at < len(text):
            found = _TOKEN.match(text, at)
            if found is None:
                raise Invalid(f'Syntax error; token: "{text[at:].split()[0]}"')
            self.tokens.append(found.group().strip())
            at = found.end()

    @property
    def next(self) -> str:
        """The token to be read, empty at the end."""
        return self.tokens[self.place] if self.place < len(self.tokens) else ""

    def is_word(self, *words: str) -> bool:
        """Whether the next token is one of these keywords, in any case."""
        return self.next.upper() in words

    def take(self) -> str:
        """Read one token."""
        if not self.next:
            raise Invalid("Syntax error; token: <EOF>")
        self.place += 1
        return self.tokens[self.place - 1]

    def skip(self, token: str) -> bool:
        """Read `token` if it is next."""
        if self.next.upper() != token:
            return False
        self.place += 1
        return True

    def expect(self, token: str) -> None:
        """Read `token`, which must be next."""
        if not self.skip(token):
            raise Invalid(f'Syntax error; token: "{self.next or "<EOF>"}", expected "{token}"')

    def end(self) -> None:
        """Refuse what is left."""
        if self.next:
            raise Invalid(f'Syntax error; token: "{self.next}"')

    def placeholder(self) -> str:
        """Read a `:value`."""
        name = self.take()
        if not name.startswith(":"):
            raise Invalid(f'Syntax error; token: "{name}"')
        self.values.add(name)
        return name

    def path(self) -> Path:
        """Read a document path."""
        parts: list[str | int] = [self._name()]
        while True:
            if self.skip("."):
                parts.append(self._name())
            elif self.skip("["):
                parts.append(self._position())
            else:
                return tuple(parts)

    def _name(self) -> str:
        name = self.take()
        if name.startswith("#"):
            self.names.add(name)
        elif not (name[0].isalpha() or name[0] == "_"):
            raise Invalid(f'Syntax error; token: "{name}"')
        elif name.upper() in _reserved():
            raise Invalid(f"Attribute name is a reserved keyword; reserved keyword: {name}")
        return name

    def _position(self) -> int:
        position = self.take()
        if not position.isdigit():
            raise Invalid(f'Syntax error; token: "{position}"')
        self.expect("]")
        return int(position)


def list_of(reader: Reader, read: Callable[[Reader], None]) -> None:
    """Read one or more parts with commas between."""
    read(reader)
    while reader.skip(","):
        read(reader)
