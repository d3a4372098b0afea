"""What a scope's roles let it do with runs and human tasks.

A run belongs to the user for whom it acts. A task belongs to nobody: its assignees see and decide
it whatever their roles say of the table, others where these reach all tasks of the instance.
"""

from __future__ import annotations

from stellwerk.kernel.errors import Forbidden, NotFound
from stellwerk.kernel.ids import UserId
from stellwerk.runs.model import HumanTask, Run
from stellwerk.runs.platform import Actors
from stellwerk.tenancy.access import Level, Verb
from stellwerk.tenancy.scope import Scope, permitted, require, require_operation
from stellwerk.workflows.model import Workflow

WORKFLOWS, RUNS, TASKS = "workflows", "runs", "tasks"
EXECUTE, DECIDE = "execute", "decide"
EVERYONE = "*"
NOBODY = UserId("")


def check_start(scope: Scope) -> None:
    """Raise Forbidden unless the scope may start runs."""
    require_operation(scope, EXECUTE)
    require(scope, RUNS, Verb.CREATE, scope.user)


def check_workflow(scope: Scope, workflow: Workflow) -> None:
    """Raise NotFound for a workflow that the scope may not read."""
    require(scope, WORKFLOWS, Verb.READ, workflow.created_by)


def check_owner(actors: Actors, scope: Scope, workflow: Workflow) -> Scope:
    """Return the scope of the workflow's owner as he stands now.

    Raises Forbidden unless he may start it at the scope's place.
    """
    owner = workflow.created_by
    try:
        acting = actors.acting(scope, owner)
        check_start(acting)
        check_workflow(acting, workflow)
    except (Forbidden, NotFound) as refusal:
        told = refusal.__cause__ if isinstance(refusal.__cause__, Forbidden) else refusal
        raise Forbidden(
            f"Workflow '{workflow.slug}' would run in the name of its owner '{owner}', who may not "
            f"start it: {told}",
            remedy="Give the owner what is missing, or transfer the workflow to who has it.",
        ) from refusal
    return acting


def check_run(scope: Scope, run: Run, verb: Verb = Verb.READ) -> None:
    """Raise Forbidden where the scope may not do that with the run, NotFound if not even read."""
    require(scope, RUNS, verb, run.user)


def only_own(scope: Scope) -> UserId | None:
    """Return the user to whose runs a list is limited; Forbidden where none may be read."""
    return scope.user if require(scope, RUNS, Verb.READ) is Level.MY else None


def inbox_names(scope: Scope) -> tuple[str, ...]:
    """Return the assignees that stand for the scope's user: by name, by role, and everyone."""
    roles = dict.fromkeys(f"role:{grant.label}" for grant in scope.principal.grants)
    return (EVERYONE, f"user:{scope.user}", scope.user, *roles)


def is_assignee(scope: Scope, task: HumanTask) -> bool:
    """Say whether the task waits for the scope's user."""
    return not set(task.assignees).isdisjoint(inbox_names(scope))


def reads_all_tasks(scope: Scope) -> bool:
    """Say whether the scope may read tasks that wait for others."""
    return permitted(scope, TASKS, Verb.READ, NOBODY).allowed


def check_task(scope: Scope, task: HumanTask) -> None:
    """Raise NotFound for a task that is neither the scope's nor open to it."""
    if not is_assignee(scope, task) and not reads_all_tasks(scope):
        refusal = Forbidden(f"Task {task.id} does not wait for '{scope.user}'.")
        raise NotFound(
            f"there is no task {task.id}", remedy="Look at the list of tasks."
        ) from refusal


def require_all_tasks(scope: Scope) -> None:
    """Raise Forbidden unless the scope may decide, or hand on, what waits for others."""
    require(scope, TASKS, Verb.UPDATE, NOBODY)


def check_cancel(scope: Scope, run: Run) -> None:
    """Raise Forbidden unless the scope may cancel tasks of the run, and the run with them."""
    if permitted(scope, RUNS, Verb.UPDATE, run.user).allowed:
        return
    decision = permitted(scope, TASKS, Verb.UPDATE, NOBODY)
    if not decision.allowed:
        raise Forbidden(
            f"You may not cancel this task: {decision.reason}.",
            remedy="Whoever started the run may, and who may change all tasks.",
        )
