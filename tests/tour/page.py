"""A page that tells a story in commands, taken apart: what to run, and what it shows.

A block ```sh is run; the block of another kind right below it is what it shows, all of it. Without
one it shows nothing. ```console is for people only.
"""

from __future__ import annotations

import difflib
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

VARIES = "…"
"""In what is shown: something within a line; alone on a line any number of lines."""
_FENCED = re.compile(r"^```(?P<kind>\w+)\n(?P<text>.*?)^```\n", re.MULTILINE | re.DOTALL)


@dataclass(frozen=True)
class Block:
    """Commands, and what they are said to show."""

    line: int
    """Where it begins in the page."""
    commands: str
    shown: str = ""

    def fits(self, output: str) -> bool:
        """Return whether commands that wrote `output` have shown what they should."""
        return re.fullmatch(_pattern(self.shown), _plain(output)) is not None

    def difference(self, output: str) -> str:
        """Return how the output differs, for people."""
        lines = difflib.unified_diff(
            self.shown.splitlines(),
            _plain(output).splitlines(),
            f"the page, line {self.line}",
            "what happened",
            lineterm="",
        )
        return "\n".join(lines)


def blocks(page: str) -> Sequence[Block]:
    """Return the blocks that are run, in their order."""
    return [*_blocks(page)]


def _blocks(page: str) -> Iterator[Block]:
    waiting, end = None, 0
    for found in _FENCED.finditer(page):
        kind, text = found["kind"], found["text"]
        if waiting is not None and kind != "sh" and found.start() == end:
            yield replace(waiting, shown=text)
            waiting = None
        elif waiting is not None:
            yield waiting
            waiting = None
        if kind == "sh":
            waiting = Block(page.count("\n", 0, found.start()) + 1, text)
        end = found.end()
    if waiting is not None:
        yield waiting


def _plain(output: str) -> str:
    """Return lines without the blanks at their ends, each ended."""
    return "".join(f"{line.rstrip()}\n" for line in output.splitlines())


def _pattern(shown: str) -> str:
    return "".join(map(_line, _plain(shown).splitlines()))


def _line(line: str) -> str:
    if line.strip() == VARIES:
        return r"(?:[^\n]*\n)*?"
    return r"[^\n]+?".join(map(re.escape, line.split(VARIES))) + r"\n"
