"""What a log remembers of what it has told, in pieces that are read and written with it.

The head holds what was told of the run and of its steps at the root. A page holds the steps of one
pass of a loop (`lines[3]`), or which steps were counted in a block of a long loop's passes.
"""

from __future__ import annotations

from collections.abc import Mapping

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


class Memory:
    """The head with pages, changed by what is told; what was read stays as it was."""

    def __init__(self, head: Head, pages: Mapping[str, Page]) -> None:
        self.head = head
        self._pages = dict(pages)
        self._steps: dict[str, Entries] = {}
        """What is told of steps, by page; a page's entries are copied when the first changes."""

    @property
    def pages(self) -> Mapping[str, Page]:
        """The pages as they are now."""
        changed = {
            name: self.page(name).model_copy(update={"steps": steps})
            for name, steps in self._steps.items()
            if name
        }
        return {**self._pages, **changed}

    def headed(self, **changes: object) -> Head:
        """Return the head as it is now, with further changes."""
        if "" in self._steps:
            root = self.head.root.model_copy(update={"steps": self._steps[""]})
            changes["root"] = root
        return self.head.model_copy(update=changes)

    def told(self, key: StepKey) -> Told:
        """Return what was told of a step."""
        return Told(*self._entries(key.path).get(key.node, (0, 0, 0, "")))

    def tell(self, key: StepKey, told: Told) -> None:
        """Note what was told of a step."""
        entry = (told.revision, told.begun, told.ended, told.status)
        self._entries(key.path)[key.node] = entry

    def page(self, name: str) -> Page:
        """Return a page as it was read, or was put since; that of the root is in the head."""
        return self._pages.get(name, Page()) if name else self.head.root

    def put(self, name: str, page: Page) -> None:
        """Put another page in place of one."""
        self._pages[name] = page

    def _entries(self, name: str) -> Entries:
        if name not in self._steps:
            self._steps[name] = dict(self.page(name).steps)
        return self._steps[name]


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
