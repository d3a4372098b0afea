"""`tasks` and `decide`: what people are asked, and their answers."""

from __future__ import annotations

from typing import Annotated

import typer

from localcloud.cli.arguments import json_value
from localcloud.cli.connection import connected
from localcloud.cli.output import AsJson, Output, command
from localcloud.cli.rendering import continued, how_to_decide, task_table
from localcloud.cli.runs import report
from localcloud.cli.views import TaskView, caller
from localcloud.cli.watching import Watch
from stellwerk.kernel.ids import TaskId
from stellwerk.kernel.json import JsonObject
from stellwerk.runs.model import TaskStatus

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
def decide(
    task: Annotated[str, typer.Argument(help="A task's id.", metavar="TASK")],
    port: Annotated[str, typer.Argument(help="One of its outcomes.", metavar="PORT")],
    data: Annotated[
        str | None, typer.Option(metavar="JSON|@FILE", help="What the task's form asks for.")
    ] = None,
    watch: Annotated[bool, typer.Option("--watch", help="Show nodes changing state.")] = False,
    as_json: AsJson = False,
) -> None:
    """Decide a task, and follow its run until it ends or pauses again."""
    output = Output(as_json=as_json)
    value = json_value(data, "--data")
    with connected() as connection:
        decided = connection.services.tasks.decide(connection.scope, TaskId(task), port, value)
        output.say(f"decided {decided.title}: {port}")
        whole = caller(connection.services, connection.scope, decided.run)
        report(connection, output, Watch(connection, output, live=watch).until_rest(whole))
