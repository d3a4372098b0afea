"""What a log remembers of what it has told, in pieces that are read and written with it.

The head holds what was told of the run and of its steps at the root. A page holds the steps of one
pass of a loop (`lines[3]`), or which steps were counted in a block of a long loop's passes.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace

from pydantic import BaseModel, ConfigDict

from stellwerk.kernel.ids import NodeKey, Path
from stellwerk.runs.model import StepKey
from stellwerk.watching.history import Counted, Told

Entries = dict[NodeKey, tuple[int, int, int, str]]
"""What was told by node, as `Told` in this order."""


class Page(BaseModel):
    """A piece of what was told."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    steps: Entries = {}
    seen: dict[NodeKey, str] = {}
    """Passes of which a node's step was counted: bits of a number, in hexadecimal."""
    totals: dict[NodeKey, dict[str, int]] = {}
    """Of a loop: how many were counted, by node and status."""

    def told(self, node: NodeKey) -> Told:
        """Return what was told of a node's step."""
        return Told(*self.steps.get(node, (0, 0, 0, "")))

    def telling(self, node: NodeKey, told: Told) -> Page:
        """Return the page with what was told of a node's step now."""
        entry = (told.revision, told.begun, told.ended, told.status)
        return self.model_copy(update={"steps": {**self.steps, node: entry}})

    def has_seen(self, node: NodeKey, bit: int) -> bool:
        """Whether the step of a pass was counted."""
        return bool(int(self.seen.get(node, "0"), 16) >> bit & 1)

    def seeing(self, node: NodeKey, bit: int) -> Page:
        """Return the page with one more step counted."""
        bits = int(self.seen.get(node, "0"), 16) | 1 << bit
        return self.model_copy(update={"seen": {**self.seen, node: f"{bits:x}"}})

    def adding(self, node: NodeKey, status: str) -> Page:
        """Return the page of a loop with one more step of this status."""
        counts = self.totals.get(node, {})
        counts = {**counts, status: counts.get(status, 0) + 1}
        return self.model_copy(update={"totals": {**self.totals, node: counts}})


class Head(BaseModel):
    """Where a log stands. `revision` counts appends: 0, there is none."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    revision: int = 0
    last: int = 0
    """The number of its last event."""
    started: bool = False
    """Whether the run's start was told."""
    status: str = ""
    """Which status of the run was told last."""
    order: str = ""
    """The place in the stream of the last look at the run that was told."""
    closed: bool = False
    """Whether the last event was told: nothing follows."""
    root: Page = Page()


@dataclass(frozen=True)
class Memory:
    """The head with pages, changed by what is told."""

    head: Head
    pages: Mapping[str, Page] = field(default_factory=dict)

    def told(self, key: StepKey) -> Told:
        """Return what was told of a step."""
        return self.page(key.path).told(key.node)

    def page(self, name: str) -> Page:
        """Return a page; that of the root is in the head."""
        return self.pages.get(name, Page()) if name else self.head.root

    def with_page(self, name: str, page: Page) -> Memory:
        """Return the memory with another page."""
        if name:
            return replace(self, pages={**self.pages, name: page})
        return replace(self, head=self.head.model_copy(update={"root": page}))


def page_of(path: Path, where: Counted | None) -> tuple[str, ...]:
    """Return the names of the pages that steps at `path` are remembered on."""
    if where is None:
        return (path,) if path else ()
    return (block_of(where), totals_of(where))


def block_of(where: Counted) -> str:
    """Return the page of the steps that are counted in a block."""
    return f"{where.loop.text}#{where.block}"


def totals_of(where: Counted) -> str:
    """Return the page of a loop's counts."""
    return f"{where.loop.text}#"
