"""`tasks`, `task`, `decide`, `delegate`, `cancel-task`, `deputies`: what people are asked."""

from __future__ import annotations

from datetime import datetime
from typing import Annotated

import typer

from localcloud.cli.arguments import json_value
from localcloud.cli.connection import Connection, connected
from localcloud.cli.output import AsJson, Output, command
from localcloud.cli.rendering import continued, how_to_decide
from localcloud.cli.runs import report
from localcloud.cli.task_tables import deputy_table, task_lines, task_table
from localcloud.cli.views import TaskView, caller
from localcloud.cli.watching import Watch
from stellwerk.kernel.errors import BadInput
from stellwerk.kernel.ids import TaskId, UserId
from stellwerk.kernel.json import JsonObject, JsonValue
from stellwerk.runs.ballots import progress
from stellwerk.runs.model import HumanTask, TaskStatus

app = typer.Typer()


@app.command()
@command
def tasks(
    status: Annotated[TaskStatus, typer.Option(help="Those that stand so.")] = TaskStatus.PENDING,
    limit: Annotated[int, typer.Option(min=1, max=100)] = 20,
    cursor: Annotated[str | None, typer.Option(help="Continue a list.")] = None,
    as_json: AsJson = False,
) -> None:
    """List what people are asked, the newest first."""
    output = Output(as_json=as_json)
    with connected() as connection:
        services, scope = connection.services, connection.scope
        page = services.tasks.list(scope, status=status, cursor=cursor, limit=limit)
        views = [TaskView(each, services.runs.get(scope, each.run).title) for each in page.items]
    data: JsonObject = {"tasks": [view.as_json() for view in views], "cursor": page.cursor}
    shown = task_table(views) if views else f"No task is {status}."
    output.answer(data, shown, *how_to_decide(views), *continued(page.cursor))


@app.command()
@command
def task(
    task: Annotated[str, typer.Argument(help="A task's id.", metavar="TASK")],
    as_json: AsJson = False,
) -> None:
    """Show a task: whom it asks, what was answered so far, who has handed it on."""
    output = Output(as_json=as_json)
    with connected() as connection:
        _show(connection, output, connection.services.tasks.get(connection.scope, TaskId(task)))


@app.command()
@command
def decide(
    task: Annotated[str, typer.Argument(help="A task's id.", metavar="TASK")],
    port: Annotated[str, typer.Argument(help="One of its outcomes.", metavar="PORT")],
    data: Annotated[
        str | None, typer.Option(metavar="JSON|@FILE", help="What the task's form asks for.")
    ] = None,
    comment: Annotated[str, typer.Option(metavar="TEXT", help="What you say to it.")] = "",
    watch: Annotated[bool, typer.Option("--watch", help="Show nodes changing state.")] = False,
    as_json: AsJson = False,
) -> None:
    """Answer a task, and follow its run until it ends or pauses again."""
    output = Output(as_json=as_json)
    value = json_value(data, "--data")
    with connected() as connection:
        tasks, scope = connection.services.tasks, connection.scope
        decided = tasks.decide(scope, TaskId(task), port, value, comment=comment)
        output.say(_answered(decided, port))
        whole = caller(connection.services, connection.scope, decided.run)
        report(connection, output, Watch(connection, output, live=watch).until_rest(whole))


@app.command()
@command
def delegate(
    task: Annotated[str, typer.Argument(help="A task's id.", metavar="TASK")],
    user: Annotated[str, typer.Argument(help="Who is to decide.", metavar="USER")],
    as_json: AsJson = False,
) -> None:
    """Hand a task on to another user of the instance."""
    output = Output(as_json=as_json)
    with connected() as connection:
        tasks = connection.services.tasks
        _show(connection, output, tasks.delegate(connection.scope, TaskId(task), UserId(user)))


@app.command("cancel-task")
@command
def cancel_task(
    task: Annotated[str, typer.Argument(help="A task's id.", metavar="TASK")],
    as_json: AsJson = False,
) -> None:
    """Cancel a task, and its run with it."""
    output = Output(as_json=as_json)
    with connected() as connection:
        tasks = connection.services.tasks
        _show(connection, output, tasks.cancel(connection.scope, TaskId(task)))


@app.command()
@command
def deputies(
    name: Annotated[
        str | None, typer.Option(metavar="USER", help="Let this user stand in for you.")
    ] = None,
    until: Annotated[
        str | None, typer.Option(metavar="MOMENT", help="Until when, with its time zone.")
    ] = None,
    since: Annotated[
        str | None, typer.Option(metavar="MOMENT", help="From when; now if left out.")
    ] = None,
    remove: Annotated[
        str | None, typer.Option(metavar="USER", help="Let this user stand in no more.")
    ] = None,
    as_json: AsJson = False,
) -> None:
    """List who decides while you are away, and for whom you do; name and remove deputies."""
    output = Output(as_json=as_json)
    if name is not None and until is None:
        raise BadInput("A deputy stands in for a time.", remedy="Say --until.")
    with connected() as connection:
        store, scope = connection.services.deputies, connection.scope
        if remove is not None:
            store.remove(scope, UserId(remove))
        if name is not None and until is not None:
            begin = None if since is None else _moment(since, "--since")
            store.name(scope, UserId(name), since=begin, until=_moment(until, "--until"))
        found = store.list(scope)
    listed: list[JsonValue] = [one.model_dump(mode="json", exclude={"revision"}) for one in found]
    nobody = "Nobody stands in for you, and you for nobody."
    output.answer({"deputies": listed}, deputy_table(found, scope.user) if found else nobody)


def _show(connection: Connection, output: Output, found: HumanTask) -> None:
    run = connection.services.runs.get(connection.scope, found.run)
    view = TaskView(found, run.title)
    output.answer(view.as_json(), *task_lines(view), *how_to_decide([view]))


def _answered(task: HumanTask, port: str) -> str:
    if task.status is TaskStatus.PENDING:
        return f"voted on {task.title}: {port} ({progress(task.quorum, task.votes)})"
    return f"decided {task.title}: {task.decision.port if task.decision else port}"


def _moment(text: str, option: str) -> datetime:
    try:
        moment = datetime.fromisoformat(text)
    except ValueError:
        moment = None
    if moment is None or moment.tzinfo is None:
        raise BadInput(
            f"{option} {text} is no moment with its time zone.",
            remedy="Write it as in 2026-12-24T18:00:00+01:00.",
        )
    return moment
