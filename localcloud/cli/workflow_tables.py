"""Workflows, versions and differences as tables for a terminal."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from datetime import datetime

from rich.text import Text

from localcloud.cli.listing import Column, Fit, Listing
from localcloud.cli.rendering import short
from stellwerk.workflows.diff import Change, Diff
from stellwerk.workflows.graph import Edge
from stellwerk.workflows.model import Version, VersionStatus, Workflow

_COLOURS = {"+": "green", "-": "red", "~": "yellow"}


def workflow_table(workflows: Iterable[Workflow]) -> Listing:
    """Return a list of workflows."""
    table = Listing(
        Column("workflow"),
        Column("title", Fit.TEXT, 16),
        *(Column(name) for name in ("published", "latest")),
        Column("", Fit.NAME),
        Column("id", Fit.NAME),
    )
    for workflow in workflows:
        published = f"v{workflow.published}" if workflow.published else ""
        marks = [] if workflow.active else ["inactive"]
        marks += ["shared"] if workflow.shared else []
        table.add(
            workflow.slug,
            workflow.title,
            published,
            f"v{workflow.latest}",
            ", ".join(marks),
            workflow.id,
        )
    return table


def version_table(versions: Iterable[Version]) -> Listing:
    """Return a list of versions."""
    table = Listing(
        *(Column(name) for name in ("version", "status", "saved UTC", "published UTC")),
        Column("author", Fit.NAME),
        Column("based on"),
        Column("note", Fit.TEXT, 16),
    )
    for version in versions:
        published = version.status is VersionStatus.PUBLISHED
        table.add(
            f"v{version.number}",
            Text(version.status.value, style="green" if published else ""),
            _moment(version.saved or version.created),
            _moment(version.published_at),
            version.author,
            f"v{version.based_on}" if version.based_on else "",
            version.note,
        )
    return table


def diff_table(diff: Diff) -> Listing | None:
    """Return all that two versions have otherwise; None: nothing."""
    rows = [*_rows(diff)]
    if not rows:
        return None
    table = Listing(
        Column(""),
        Column("what"),
        Column(f"v{diff.before}", Fit.TEXT),
        Column(f"v{diff.after}", Fit.TEXT),
    )
    for mark, what, before, after in rows:
        table.add(Text(mark, style=_COLOURS[mark]), what, before, after)
    return table


def _rows(diff: Diff) -> Iterator[tuple[str, str, str, str]]:
    for node in diff.removed:
        yield "-", node.key, f"{node.type} {node.title}".strip(), ""
    for node in diff.added:
        yield "+", node.key, "", f"{node.type} {node.title}".strip()
    for changed in diff.changed:
        for change in (*changed.fields, *changed.parameters):
            yield _row(f"{changed.key}.{change.name}", change)
    for edge in diff.edges_removed:
        yield "-", "edge", _edge(edge), ""
    for edge in diff.edges_added:
        yield "+", "edge", "", _edge(edge)


def _row(what: str, change: Change) -> tuple[str, str, str, str]:
    mark = "~" if change.in_before and change.in_after else "+" if change.in_after else "-"
    before = short(change.before) if change.in_before else ""
    return mark, what, before, short(change.after) if change.in_after else ""


def _edge(edge: Edge) -> str:
    return f"{edge.source}:{edge.port} → {edge.target}"


def _moment(moment: datetime | None) -> str:
    return f"{moment:%Y-%m-%d %H:%M}" if moment else ""
