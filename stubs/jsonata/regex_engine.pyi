from collections.abc import Callable, Iterator
from typing import Protocol, TypeAlias

import regex

Replacement: TypeAlias = str | Callable[[regex.Match], str]

class RegexFlags:
    case_insensitive: bool
    multiline: bool

class CompiledPattern(Protocol):
    def search(self, string: str) -> object: ...
    def finditer(self, string: str) -> Iterator[regex.Match]: ...
    def sub(self, repl: Replacement, string: str, count: int = 0) -> str: ...
    def split(self, string: str, maxsplit: int = 0) -> list[str]: ...

RegexEngine = Callable[[str, RegexFlags], CompiledPattern]
