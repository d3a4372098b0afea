"""Tables that stay readable at any width: what has no room beside the rest goes below its row."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from enum import Enum

from rich.cells import cell_len
from rich.console import Console, ConsoleOptions, RenderableType
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

_GAP = 2
_INDENT = 4
_LONGEST_WORD = 20


class Fit(Enum):
    """How a column takes its room."""

    KEY = "key"  # whole, always in the row
    NAME = "name"  # whole; below the row where that is narrow
    TEXT = "text"  # flows over several lines; below the row where that is narrow
    VALUE = "value"  # one line, cut where room ends; below the row where that is narrow


@dataclass(frozen=True)
class Column:
    """A column: with fewer characters than `least`, texts and values are no longer read."""

    name: str
    fit: Fit = Fit.KEY
    least: int = 24


class Listing:
    """Rows of texts under headings. Columns in which no row has anything are left out."""

    def __init__(self, *columns: Column) -> None:
        self._columns = columns
        self._rows: list[tuple[Text, ...]] = []

    def add(self, *cells: str | Text) -> None:
        """Add a row, with a cell for every column; texts are taken as they are, without markup."""
        self._rows.append(tuple(Text(cell) if isinstance(cell, str) else cell for cell in cells))

    def __rich_console__(
        self, console: Console, options: ConsoleOptions
    ) -> Iterator[RenderableType]:
        """Yield a table, or where that has no room rows with lines below them."""
        shown = [
            at
            for at, column in enumerate(self._columns)
            if not self._rows or any(row[at].plain for row in self._rows)
        ]
        columns = [self._columns[at] for at in shown]
        rows = [[row[at] for at in shown] for row in self._rows]
        wanted = [
            _widest(column.name, [row[at] for row in rows]) for at, column in enumerate(columns)
        ]
        room = options.max_width - _GAP * (len(columns) - 1)
        least = [
            _least(column, [row[at] for row in rows], want)
            for at, (column, want) in enumerate(zip(columns, wanted, strict=True))
        ]
        widths = _grown(least, wanted, room)
        if sum(widths) <= room:
            yield _table(columns, rows, widths)
        else:
            yield from _lines(columns, rows, wanted)


def _widest(name: str, cells: Sequence[Text]) -> int:
    return max(cell_len(line) for cell in (name, *cells) for line in str(cell).split("\n"))


def _least(column: Column, cells: Sequence[Text], wanted: int) -> int:
    """Return the width below which a column is no longer read: words stay whole, long ones not."""
    if column.fit in {Fit.KEY, Fit.NAME}:
        return wanted
    words = (
        [word for cell in cells for word in cell.plain.split()] if column.fit is Fit.TEXT else []
    )
    word = min(max(map(cell_len, words), default=0), _LONGEST_WORD)
    return min(wanted, max(column.least, cell_len(column.name), word))


def _grown(least: Sequence[int], wanted: Sequence[int], room: int) -> list[int]:
    """Return widths from the least ones on: the narrowest that wants more gets it first."""
    widths = list(least)
    for _ in range(room - sum(widths)):
        growing = [at for at, want in enumerate(wanted) if widths[at] < want]
        if growing:
            widths[min(growing, key=widths.__getitem__)] += 1
    return widths


def _table(
    columns: Sequence[Column], rows: Sequence[Sequence[Text]], widths: Sequence[int]
) -> Table:
    table = Table(box=None, pad_edge=False, header_style="bold")
    for column, width in zip(columns, widths, strict=True):
        cut = column.fit is Fit.VALUE
        table.add_column(
            column.name, width=width, no_wrap=cut, overflow="ellipsis" if cut else "fold"
        )
    for row in rows:
        table.add_row(*row)
    return table


def _lines(
    columns: Sequence[Column], rows: Sequence[Sequence[Text]], wanted: Sequence[int]
) -> Iterator[RenderableType]:
    keys = [at for at, column in enumerate(columns) if column.fit is Fit.KEY]
    below = [at for at in range(len(columns)) if at not in keys]

    def line(cells: Sequence[Text]) -> Text:
        whole = Text()
        for at in keys:
            whole.append_text(cells[at]).append(" " * (wanted[at] - cells[at].cell_len + _GAP))
        whole.rstrip()
        return whole

    yield line([Text(column.name, style="bold") for column in columns])
    label = max((len(columns[at].name) for at in below), default=0)
    for row in rows:
        yield line(row)
        grid = Table.grid(padding=(0, _GAP, 0, 0))
        grid.add_column(width=label, style="dim")
        grid.add_column(overflow="fold")
        for at in below:
            if row[at].plain:
                grid.add_row(columns[at].name, _cut(columns[at], row[at]))
        if grid.row_count:
            yield Padding(grid, (0, 0, 0, _INDENT))


def _cut(column: Column, cell: Text) -> Text:
    if column.fit is not Fit.VALUE:
        return cell
    cut = cell.copy()
    cut.no_wrap, cut.overflow = True, "ellipsis"
    return cut
