"""Records as tables for a terminal. Nothing here decides anything."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from datetime import datetime, timedelta

from rich.markup import escape
from rich.table import Table
from rich.text import Text

from localcloud.cli.views import RunView, StepView, TaskView
from stellwerk.catalogue.model import NodeType
from stellwerk.kernel.json import JsonValue, dumps
from stellwerk.runs.model import Run, RunStatus, StepStatus
from stellwerk.workflows.faults import Fault, Severity

SHOWN = 50
"""Characters of a value that a table shows; --json has all."""
OUTPUT_SHOWN = 1000
"""Characters of a run's output that its head shows."""

_WHOLE = {"", "code", "due", "node", "port", "run", "started", "status", "task", "time", "type"}
_COLOURS = {
    StepStatus.RUNNING: "blue",
    StepStatus.WAITING: "yellow",
    StepStatus.SUCCEEDED: "green",
    StepStatus.FAILED: "red",
    StepStatus.UNCERTAIN: "bold red",
    StepStatus.SKIPPED: "dim",
    StepStatus.CANCELLED: "dim",
    RunStatus.PAUSED: "yellow",
    RunStatus.COMPLETED: "green",
}


def fault_table(faults: Sequence[Fault]) -> Table:
    """Return all faults of a graph: what, where, and how to mend it."""
    table = _table("", "code", "where", "message", "remedy")
    for fault in faults:
        mark = "[red]✗[/]" if fault.severity is Severity.ERROR else "[yellow]![/]"
        remedy = fault.remedy or fault.code.value.remedy
        table.add_row(mark, str(fault.code), *map(escape, (where(fault), fault.message, remedy)))
    return table


def where(fault: Fault) -> str:
    """Return the place of a fault as one text: node and parameter, edge, or place in the file."""
    edge = fault.edge
    between = f"{edge.source}:{edge.port} → {edge.target}" if edge else ""
    node = f"{fault.node}.{fault.parameter}" if fault.node and fault.parameter else fault.node
    path = f"via {' '.join(fault.example)}" if fault.example else ""
    return " ".join(filter(None, (node or between or fault.place, path)))


def run_lines(view: RunView) -> Iterable[Text]:
    """Yield the head of a run: what, how it stands, and its error or output."""
    run = view.run
    head = Text.assemble((run.title or run.workflow, "bold"), f" v{run.version} · run {run.id} · ")
    head.append_text(_status(run.status))
    yield head.append(f" · {_lasted(run.started, run.ended)}" if run.ended else "")
    if run.error is not None:
        place = f" at {run.error.node}" if run.error.node else ""
        yield Text(f"{run.error.type}{place}: {run.error.message}", style="red")
        if run.error.remedy:
            yield Text(run.error.remedy)
    if run.status is RunStatus.COMPLETED:
        yield Text(f"output {_short(view.output, OUTPUT_SHOWN)}")


def step_table(steps: Iterable[StepView]) -> Table:
    """Return the story of a run: one row per execution of a node."""
    table = _table("node", "status", "port", "tries", "time", "input", "output")
    views = tuple(steps)
    if any(view.error for view in views):
        table.add_column("error", overflow="fold")
    for view in views:
        step, error = view.step, view.error
        table.add_row(
            escape(step.key.text),
            _status(step.status),
            step.port or "",
            str(len(step.attempts) or ""),
            _lasted(view.started, view.ended),
            escape(_short(view.input) if step.input else ""),
            escape(_short(view.value) if step.value else ""),
            *([escape(f"{error.type}: {error.message}")] if error else []),
        )
    return table


def run_table(runs: Iterable[Run]) -> Table:
    """Return a list of runs."""
    table = _table("run", "workflow", "status", "started", "time", "waits", "error")
    for run in runs:
        table.add_row(
            run.id,
            escape(f"{run.title or run.workflow} v{run.version}"),
            _status(run.status),
            f"{run.started:%Y-%m-%d %H:%M:%S}",
            _lasted(run.started, run.ended),
            str(run.waits or ""),
            escape(f"{run.error.type}: {run.error.message}" if run.error else ""),
        )
    return table


def task_table(tasks: Iterable[TaskView]) -> Table:
    """Return open or past tasks: what is asked of whom, and what can be answered."""
    table = _table("task", "title", "workflow", "node", "for", "due", "outcomes")
    for view in tasks:
        task = view.task
        done = f"{task.status}: {task.decision.port}" if task.decision else ""
        table.add_row(
            task.id,
            escape(task.title),
            escape(view.workflow),
            escape(view.step),
            escape(", ".join(task.assignees)),
            f"{task.due:%Y-%m-%d %H:%M}" if task.due else "",
            done or ", ".join(task.ports),
        )
    return table


def type_table(types: Iterable[NodeType]) -> Table:
    """Return the node types and actions that a workflow can be made of."""
    table = _table("type", "title", "kind", "effect", "ports", "description")
    for found in types:
        ports = [f"({found.ports_from})"] if found.ports_from else []
        table.add_row(
            found.type,
            escape(found.title),
            found.kind,
            found.effect + (" (repeatable)" if found.repeatable else ""),
            ", ".join([*ports, *found.ports]),
            escape(found.description),
        )
    return table


def continued(cursor: str | None) -> Sequence[str]:
    """Return what to say below a page of a list: how to see the next one, if there is one."""
    return [f"More with --cursor {cursor}"] if cursor else []


def _table(*columns: str) -> Table:
    """Return an empty table; names and states stay whole, longer texts share what room is left."""
    table = Table(box=None, pad_edge=False, header_style="bold")
    for column in columns:
        table.add_column(column, overflow="fold", no_wrap=column in _WHOLE)
    return table


def _status(status: StepStatus | RunStatus) -> Text:
    return Text(status.value, style=_COLOURS.get(status, ""))


def _lasted(started: datetime | None, ended: datetime | None) -> str:
    if started is None or ended is None:
        return ""
    seconds = (ended - started) / timedelta(seconds=1)
    return f"{seconds * 1000:.0f} ms" if seconds < 1 else f"{seconds:.1f} s"


def _short(value: JsonValue, most: int = SHOWN) -> str:
    text = dumps(value)
    return text if len(text) <= most else f"{text[: most - 1]}…"
