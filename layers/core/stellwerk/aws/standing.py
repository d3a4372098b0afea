"""Where a run stands: its status and the number of its open waits, changed as one.

A run is paused while a wait is open. Opening one pauses it whatever the number was; closing one
must know whether it is the last: it supposes so, and if it is refused, knows better the next time.
"""

from __future__ import annotations

from collections.abc import Sequence

from stellwerk.aws import keys
from stellwerk.aws.errors import Reason, Refused
from stellwerk.aws.expressions import (
    Check,
    Item,
    Update,
    Write,
    above,
    among,
    decoded,
    equals,
)
from stellwerk.aws.items import Items
from stellwerk.kernel.errors import Conflict, NotFound, ServiceUnavailable
from stellwerk.kernel.ids import RunId, WorkflowId
from stellwerk.runs.model import RunStatus
from stellwerk.tenancy.scope import Scope

OPEN = tuple(str(status) for status in RunStatus if status.open)
QUEUED = (str(RunStatus.QUEUED),)
STARTED = tuple(status for status in OPEN if status not in QUEUED)
_GUESSES = 12


def attributes(scope: Scope, workflow: WorkflowId, status: RunStatus) -> Item:
    """Return the attributes of a run that follow its status."""
    return {
        "status": str(status),
        "in_status": keys.runs_by_status(scope, status),
        "in_workflow_status": keys.runs_of_workflow_by_status(scope, workflow, status),
    }


def is_open(item: Item) -> bool:
    """Return whether the run of `item` is not over."""
    return item.get("status") in OPEN


def wait_opened(scope: Scope, run: RunId, workflow: WorkflowId) -> Update:
    """Return the write that adds a wait to an open run."""
    return Update(
        keys.run(scope, run),
        set=attributes(scope, workflow, RunStatus.PAUSED),
        add={"waits": 1},
        when=(among("status", STARTED),),
    )


def close_wait(
    items: Items, scope: Scope, run: RunId, workflow: WorkflowId, writes: Sequence[Write]
) -> None:
    """Do `writes` and take one wait from the run, at once; of a run that is over nothing is taken.

    Usually one request, two if other waits are open. Raises `Refused` where one of `writes` is.
    """
    taking: Write = _last_taken(scope, run, workflow)
    for _ in range(_GUESSES):
        try:
            items.transact([*writes, taking])
        except Refused as refused:
            *reasons, of_run = refused.reasons
            if any(reason.failed for reason in reasons):
                raise
            if of_run.item is None:
                raise run_missing(run) from refused
            taking = _taking(scope, run, workflow, decoded(of_run.item))
        else:
            return
    raise ServiceUnavailable(f"the waits of run {run} change too fast")


def run_missing(run: RunId) -> NotFound:
    """Return the error of a run that does not exist for the scope."""
    return NotFound(f"there is no run {run}", remedy="Look at the list of runs.")


def not_open(run: RunId, reason: Reason) -> Conflict | NotFound:
    """Return the error of a run that was refused because it is over, or not there."""
    if reason.item is None:
        return run_missing(run)
    status = decoded(reason.item)["status"]
    return Conflict(f"run {run} is over: {status}", remedy="Replay it if its work is wanted.")


def _taking(scope: Scope, run: RunId, workflow: WorkflowId, stored: Item) -> Write:
    if stored["waits"] == 0 or not is_open(stored):
        return Check(keys.run(scope, run), when=(equals("waits", 0),))
    if stored["waits"] == 1:
        return _last_taken(scope, run, workflow)
    return Update(keys.run(scope, run), add={"waits": -1}, when=(above("waits", 1),))


def _last_taken(scope: Scope, run: RunId, workflow: WorkflowId) -> Update:
    return Update(
        keys.run(scope, run),
        set=attributes(scope, workflow, RunStatus.RUNNING),
        add={"waits": -1},
        when=(equals("waits", 1), among("status", OPEN)),
    )
