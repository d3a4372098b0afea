"""What follows the end of a run: it is counted, a failure is told, and its time begins."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from stellwerk.kernel.errors import NotFound
from stellwerk.runs.causes import CANCELLED
from stellwerk.runs.model import Run, RunStatus, Step
from stellwerk.tenancy.notices import Notice, Notices
from stellwerk.tenancy.scope import Scope
from stellwerk.watching.retention import kept_until
from stellwerk.watching.tallies import Tallies, outcome_of
from stellwerk.workflows.model import Workflow
from stellwerk.workflows.ports import Versions


@dataclass(frozen=True)
class Following:
    """Takes in how runs end, each once: implements `runs.following.Follower`."""

    tallies: Tallies
    versions: Versions
    notices: Notices

    def ending(self, scope: Scope, run: Run, steps: Iterable[Step]) -> None:
        """Tell of a failure, then count: who comes again after a crash may tell again."""
        status = _status(run)
        if status is RunStatus.FAILED and self.tallies.counted(scope, run.id):
            return
        try:
            workflow = self.versions.workflow(scope, run.workflow)
        except NotFound:
            workflow = None
        if workflow is not None and _is_news(run, status):
            self.notices.notify(scope, _failure(run, workflow))
        until = kept_until(run, status, workflow)
        self.tallies.count(scope, outcome_of(run, status, steps), until)


def _status(run: Run) -> RunStatus:
    """Return how a run ends, from what is recorded of it."""
    if run.error is None:
        return RunStatus.COMPLETED
    return RunStatus.CANCELLED if run.error.type == CANCELLED else RunStatus.FAILED


def _is_news(run: Run, status: RunStatus) -> bool:
    """Whether people are told: a test is looked at anyway, and a called run's caller fails too."""
    return status is RunStatus.FAILED and run.mode == "live" and run.parent is None


def _failure(run: Run, workflow: Workflow) -> Notice:
    error = run.error
    lines = [f"Workflow **{workflow.title}** (version {run.version}) has failed."]
    about = {"run": run.id, "workflow": workflow.id, "version": str(run.version)}
    if error is not None:
        where = f" at node `{error.node}`" if error.node else ""
        lines += [f"{error.type}{where}: {error.message[:1000]}", error.remedy]
        about |= {"node": error.node} if error.node else {}
    return Notice(
        kind="run.failed",
        to=workflow.notify or (f"user:{workflow.created_by}",),
        subject=f"{workflow.title} has failed",
        text="\n\n".join(line for line in lines if line),
        group=workflow.id,
        link=f"/mandates/{run.mandate}/instances/{run.instance}/runs/{run.id}",
        about=about,
    )
