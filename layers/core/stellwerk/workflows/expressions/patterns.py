"""JSONata's regular expressions, with a time limit: Python's own cannot be interrupted."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from stellwerk.workflows.expressions.bounds import current
from stellwerk.workflows.expressions.braces import Malformed

if TYPE_CHECKING:
    import regex
    from jsonata.regex_engine import RegexFlags, Replacement


class Pattern:
    """A compiled pattern as JSONata's functions call it."""

    def __init__(self, compiled: regex.Pattern) -> None:
        self._compiled = compiled

    def search(self, string: str) -> regex.Match | None:
        """Return the first match."""
        return self._compiled.search(string, concurrent=True, timeout=current().remaining)

    def finditer(self, string: str) -> Iterator[regex.Match]:
        """Yield all matches."""
        return self._compiled.finditer(string, concurrent=True, timeout=current().remaining)

    def sub(self, repl: Replacement, string: str, count: int = 0) -> str:
        """Return `string` with its matches replaced."""
        left = current().remaining
        return self._compiled.sub(repl, string, count, concurrent=True, timeout=left)

    def split(self, string: str, maxsplit: int = 0) -> list[str]:
        """Return what stands between the matches."""
        left = current().remaining
        return self._compiled.split(string, maxsplit, concurrent=True, timeout=left)


def compile_pattern(pattern: str, flags: RegexFlags) -> Pattern:
    """Return the compiled pattern of a JSONata literal; raise Malformed if it is none."""
    import regex  # 50 ms of a cold start, and few expressions hold a pattern

    chosen = (regex.IGNORECASE if flags.case_insensitive else 0) | (
        regex.MULTILINE if flags.multiline else 0
    )
    try:
        return Pattern(regex.compile(pattern, chosen))
    except (regex.error, RecursionError, OverflowError) as error:
        message = f"has a pattern that cannot be read: /{pattern[:60]}/ ({error})"
        raise Malformed(message, remedy="Mend the regular expression.") from error
