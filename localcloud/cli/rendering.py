"""Records as tables for a terminal. Nothing here decides anything."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from datetime import datetime, timedelta

from rich.console import Group, RenderableType
from rich.padding import Padding
from rich.text import Text

from localcloud.cli.calls import Call
from localcloud.cli.listing import Column, Fit, Listing
from localcloud.cli.views import RunView, StepView, TaskView
from stellwerk.catalogue.model import Effect, NodeType
from stellwerk.kernel.json import JsonValue, dumps
from stellwerk.runs.comparing import Compared
from stellwerk.runs.model import Run, RunStatus, StepKey, StepStatus
from stellwerk.workflows.faults import Fault, Severity

SHOWN = 80
"""Characters of a value that a table shows at most; --json has all."""
INDENT = 2
"""Columns by which the story of a called run stands in."""
OUTPUT_SHOWN = 1000
"""Characters of a run's output that its head shows."""

_COLOURS = {
    StepStatus.RUNNING: "blue",
    StepStatus.WAITING: "yellow",
    StepStatus.SUCCEEDED: "green",
    StepStatus.FAILED: "red",
    StepStatus.UNCERTAIN: "bold red",
    StepStatus.SKIPPED: "dim",
    StepStatus.CANCELLED: "dim",
    RunStatus.QUEUED: "yellow",
    RunStatus.PAUSED: "yellow",
    RunStatus.COMPLETED: "green",
}


def fault_table(faults: Sequence[Fault]) -> Listing:
    """Return all faults of a graph: what, where, and how to mend it."""
    table = Listing(
        Column(""),
        Column("code"),
        Column("where", Fit.TEXT, 12),
        Column("message", Fit.TEXT, 28),
        Column("remedy", Fit.TEXT, 28),
    )
    for fault in faults:
        wrong = fault.severity is Severity.ERROR
        mark = Text("✗", style="red") if wrong else Text("!", style="yellow")
        remedy = fault.remedy or fault.code.value.remedy
        table.add(mark, str(fault.code), where(fault), fault.message, remedy)
    return table


def where(fault: Fault) -> str:
    """Return the place of a fault as one text: node and parameter, edge, or place in the file."""
    edge = fault.edge
    between = f"{edge.source}:{edge.port} → {edge.target}" if edge else ""
    node = f"{fault.node}.{fault.parameter}" if fault.node and fault.parameter else fault.node
    path = f"via {' '.join(fault.example)}" if fault.example else ""
    return " ".join(filter(None, (node or between or fault.place, path)))


def run_lines(view: RunView) -> Iterable[Text]:
    """Yield the head of a run: what, how it stands, where it comes from, its error or output."""
    run = view.run
    head = Text.assemble((run.title or run.workflow, "bold"), f" v{run.version} · run {run.id} · ")
    head.append_text(_status(run.status))
    yield head.append(f" · {_lasted(run.started, run.ended)}" if run.ended else "")
    if run.mode == "test":
        yield Text("test run")
    if run.mode == "dry":
        yield Text("dry run: steps that would write answer with a sample, and did not act")
    if run.parent is not None:
        step = StepKey(path=run.parent.path, node=run.parent.node)
        yield Text(f"called by step {step.text} of run {run.parent.run}")
    if run.origin is not None:
        yield Text(f"replays run {run.origin}")
    if run.error is not None:
        place = f" at {run.error.node}" if run.error.node else ""
        yield Text(f"{run.error.type}{place}: {run.error.message}", style="red")
        if run.error.remedy:
            yield Text(run.error.remedy)
    if run.status is RunStatus.QUEUED:
        yield Text("starts when it is its turn: as many runs are open as are allowed")
    if run.status is RunStatus.COMPLETED:
        yield Text(f"output {short(view.output, OUTPUT_SHOWN)}")


def compared_table(steps: Iterable[Compared]) -> Listing:
    """Return two runs beside each other: a row for each step."""
    table = Listing(*(Column(name) for name in ("step", "one", "other", "time", "time", "value")))
    values = {None: "", True: "same", False: "differs"}
    for each in steps:
        sides = (each.one, each.other)
        stood = (f"{side.status} {side.port or ''}".strip() if side else "-" for side in sides)
        took = (
            f"{side.milliseconds} ms" if side and side.milliseconds is not None else ""
            for side in sides
        )
        table.add(each.step, *stood, *took, values[each.equal])
    return table


def step_table(steps: Iterable[StepView]) -> Listing:
    """Return the story of a run: one row per execution of a node."""
    table = Listing(
        *(Column(name) for name in ("node", "status", "port", "tries", "time")),
        Column("called run", Fit.NAME),
        Column("input", Fit.VALUE),
        Column("output", Fit.VALUE),
        Column("error", Fit.TEXT),
    )
    for view in steps:
        step, error = view.step, view.error
        table.add(
            step.key.text,
            _status(step.status).append(" (dry)" if step.dry else ""),
            (step.port or "") if step.status is not StepStatus.SKIPPED else "",
            str(len(step.attempts) or ""),
            _lasted(view.started, view.ended),
            view.called or "",
            short(view.input) if view.input is not None else "",
            short(view.value) if step.value else "",
            f"{error.type}: {error.message}" if error else "",
        )
    return table


def call_parts(calls: Sequence[Call]) -> Iterable[RenderableType]:
    """Yield the stories of called runs, indented below that of the run that called them."""
    for call in calls:
        if call.view is not None:
            below = call_parts(call.calls)
            story = Group("", *run_lines(call.view), step_table(call.view.nodes), *below)
            yield Padding(story, (0, 0, 0, INDENT))
    left = sum(call.view is None for call in calls)
    if left:
        verb = "run is" if left == 1 else "runs are"
        yield Text(f"{left} called {verb} not told here: stellwerk show RUN tells of each.")


def run_table(runs: Iterable[Run]) -> Listing:
    """Return a list of runs."""
    table = Listing(
        Column("run"),
        Column("workflow", Fit.TEXT, 16),
        *(Column(name) for name in ("status", "started UTC", "time", "waits")),
        Column("error", Fit.TEXT),
    )
    for run in runs:
        table.add(
            run.id,
            f"{run.title or run.workflow} v{run.version}",
            _status(run.status),
            f"{run.started:%Y-%m-%d %H:%M:%S}",
            _lasted(run.started, run.ended),
            str(run.waits or ""),
            f"{run.error.type}: {run.error.message}" if run.error else "",
        )
    return table


def how_to_decide(tasks: Sequence[TaskView]) -> Iterable[Text]:
    """Yield the command that answers the first open task, whole, to be copied."""
    for view in [view for view in tasks if view.task.decision is None][:1]:
        fields = ", ".join(f'"{name}": …' for name in view.required)
        data = f" --data '{{{fields}}}'" if fields else ""
        yield copied(f"Decide with: stellwerk decide {view.task.id} {view.task.ports[0]}{data}")


def type_table(types: Iterable[NodeType]) -> Listing:
    """Return the node types and actions that a workflow can be made of."""
    table = Listing(
        *(Column(name) for name in ("type", "title", "kind", "effect")),
        Column("ports", Fit.TEXT, 18),
        Column("description", Fit.TEXT, 30),
    )
    for found in types:
        ports = [f"({found.ports_from})"] if found.ports_from else []
        again = found.repeatable and found.effect is not Effect.READ
        table.add(
            found.type,
            found.title,
            found.kind,
            found.effect + (" (repeatable)" if again else ""),
            ", ".join([*ports, *found.ports]),
            found.description,
        )
    return table


def continued(cursor: str | None) -> Sequence[Text]:
    """Return what to say below a page of a list: how to see the next one, if there is one."""
    return [copied(f"More with --cursor {cursor}")] if cursor else []


def copied(command: str) -> Text:
    """Return a line that stays one line, for people to copy."""
    return Text(command, no_wrap=True, overflow="ignore")


def _status(status: StepStatus | RunStatus) -> Text:
    return Text(status.value, style=_COLOURS.get(status, ""))


def _lasted(started: datetime | None, ended: datetime | None) -> str:
    if started is None or ended is None:
        return ""
    seconds = (ended - started) / timedelta(seconds=1)
    return f"{seconds * 1000:.0f} ms" if seconds < 1 else f"{seconds:.1f} s"


def short(value: JsonValue, most: int = SHOWN) -> str:
    """Return a value as JSON, cut to so many characters."""
    text = dumps(value)
    return text if len(text) <= most else f"{text[: most - 1]}…"
