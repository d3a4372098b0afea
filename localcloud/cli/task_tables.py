"""Tasks and deputies as tables for a terminal."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from rich.text import Text

from localcloud.cli.listing import Column, Fit, Listing
from localcloud.cli.rendering import short
from localcloud.cli.views import TaskView
from stellwerk.kernel.ids import UserId
from stellwerk.runs.ballots import Vote, progress
from stellwerk.runs.model import Decision
from stellwerk.tenancy.deputies import Deputy


def task_table(tasks: Iterable[TaskView]) -> Listing:
    """Return open or past tasks: what is asked of whom, and what can be answered."""
    table = Listing(
        Column("task"),
        Column("title", Fit.TEXT, 16),
        Column("workflow", Fit.TEXT, 10),
        Column("node", Fit.NAME),
        Column("for", Fit.TEXT, 10),
        Column("due UTC"),
        Column("outcomes", Fit.TEXT, 10),
        Column("form", Fit.TEXT, 10),
    )
    for view in tasks:
        task = view.task
        done = f"{task.status}: {task.decision.port}" if task.decision else ""
        far = f" ({progress(task.quorum, task.votes)})" if task.quorum else ""
        needed = view.required
        table.add(
            task.id,
            task.title,
            view.workflow,
            view.step,
            ", ".join(task.assignees),
            f"{task.due:%Y-%m-%d %H:%M}" if task.due else "",
            done or ", ".join(task.ports) + far,
            ", ".join(f"{name} (required)" if name in needed else name for name in view.fields),
        )
    return table


def task_lines(view: TaskView) -> Iterator[Text]:
    """Yield what is to be known of a task: what it asks, whom, what came of it so far."""
    task = view.task
    yield Text.assemble((task.title, "bold"), f" · task {task.id} · {task.status}")
    yield Text(f"step {view.step} of run {task.run} ({view.workflow})")
    if task.description:
        yield Text(task.description)
    if task.value is not None:
        yield Text(f"shows {short(task.value)}")
    yield Text(f"for {', '.join(task.assignees)}" + _but(task.not_by))
    if task.due is not None:
        yield Text(f"due {task.due:%Y-%m-%d %H:%M} UTC, then {task.on_expire}")
    for handed in task.delegations:
        yield Text(f"handed on by {handed.by} to {handed.to}, {handed.at:%Y-%m-%d %H:%M} UTC")
    if task.quorum is not None:
        yield Text(f"answers {progress(task.quorum, task.votes)}")
    for vote in task.votes:
        yield Text(f"  {_said(vote)}")
    if task.decision is not None:
        yield Text(f"decided: {_said(task.decision)}")
    else:
        yield Text(f"outcomes {', '.join(task.ports)}")


def deputy_table(deputies: Iterable[Deputy], user: UserId) -> Listing:
    """Return who stands in for whom, from when until when."""
    table = Listing(*(Column(name) for name in ("away", "deputy", "since UTC", "until UTC")))
    for one in deputies:
        table.add(
            "you" if one.user == user else one.user,
            "you" if one.deputy == user else one.deputy,
            f"{one.since:%Y-%m-%d %H:%M}",
            f"{one.until:%Y-%m-%d %H:%M}",
        )
    return table


def _said(said: Vote | Decision) -> str:
    who = said.by or "nobody"
    whom = f" for {said.on_behalf_of}" if said.on_behalf_of else ""
    words = f": {said.comment}" if said.comment else ""
    return f"{said.port} by {who}{whom}, {said.at:%Y-%m-%d %H:%M} UTC{words}"


def _but(people: Sequence[UserId]) -> str:
    return f", not by {', '.join(people)}" if people else ""
