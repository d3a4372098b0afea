"""What must never show, and how it is found in a text."""

from __future__ import annotations

import base64
import re
from collections.abc import Iterator

MARK = "sw-seeded-"
"""Begins every secret that tests seed, so that it is known in any process."""
_JWT = re.compile(r"eyJ[A-Za-z0-9_-]{8,}\.eyJ[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]{16,}")
_WORD = re.compile(r"[A-Za-z0-9_-]{43}")
"""What 32 random bytes are in base64url."""


def seeded(name: str) -> str:
    """Return a secret to test with: it must show nowhere."""
    return f"{MARK}{name}-5Uf0rT9qLw"


def _encoded(mark: str) -> Iterator[str]:
    """Yield how `mark` looks inside of base64, at each of the three places where it can begin."""
    for before in range(3):
        whole = base64.b64encode(b"x" * before + mark.encode()).decode().rstrip("=")
        yield whole[(before * 8 + 5) // 6 : -1]


_MARKS = (MARK, *_encoded(MARK))


class Vault:
    """Secrets made while tests run."""

    def __init__(self) -> None:
        self._made: set[str] = set()

    def add(self, secret: str) -> None:
        """Remember a secret that was made."""
        self._made.add(secret)

    def found(self, text: str) -> Iterator[str]:
        """Yield what shows in a text; of each only its beginning, since this is shown too."""
        for mark in _MARKS:
            if mark in text:
                yield f"a seeded secret ({mark}...)"
        if "eyJ" in text:
            for token in _JWT.findall(text):
                yield f"a token ({token[:6]}...)"
        if self._made:
            for word in _WORD.findall(text):
                if word in self._made:
                    yield f"a machine's secret ({word[:4]}...)"
