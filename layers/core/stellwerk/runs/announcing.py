"""What is told on the bus: that a task was decided, and that a run ends, before that is written.

So both are told at least once: what could not be told is left undone, and done again.

Runs of tests and runs that another run has called are not told of: the latter end in their
caller's name. A run that was started by such an event counts how many ended before it in that
chain, and the chain is told of no further than `LONGEST_CHAIN`: workflows that start one another
do not go on for ever.
"""

from __future__ import annotations

import logging
import re

from stellwerk.kernel.clock import instant
from stellwerk.kernel.errors import PermanentError, TransientError
from stellwerk.kernel.json import JsonObject
from stellwerk.runs.causes import CANCELLED
from stellwerk.runs.model import HumanTask, Run, RunStatus
from stellwerk.runs.world import World
from stellwerk.tenancy.bus import OURS, RUN_FINISHED, TASK_DECIDED, BusEvent
from stellwerk.tenancy.scope import Scope

LOG = logging.getLogger(__name__)
LONGEST_CHAIN = 5
_CHAIN = re.compile(rf"/event/{OURS}/{re.escape(RUN_FINISHED)}/[^/]+/(\d+)$")


def announce(world: World, scope: Scope, run: Run) -> None:
    """Tell that a run ends, whose outcome is recorded; raises TransientError."""
    depth = _depth(run)
    if world.bus is None or run.mode != "live" or run.parent is not None:
        return
    if depth > LONGEST_CHAIN:
        LOG.warning("run %s is the end of a chain of runs that start one another", run.id)
        return
    ended = run.ended or world.clock.now()
    event = BusEvent(
        id=f"{OURS}/{RUN_FINISHED}/{run.id}/{depth}",
        mandate=scope.mandate,
        instance=scope.instance,
        source=OURS,
        type=RUN_FINISHED,
        time=ended,
        data=_data(world, scope, run),
        workflow=run.workflow,
    )
    try:
        world.bus.publish(scope, event)
    except PermanentError:  # no run may stay open because nobody can be told of its end
        LOG.exception("nobody is told that run %s of mandate %s ended", run.id, scope.mandate)


def announce_decision(world: World, scope: Scope, task: HumanTask) -> bool:
    """Tell that a task was decided; False where it could not be told now, and is to be again."""
    decision = task.decision
    if world.bus is None or decision is None:
        return True
    event = BusEvent(
        id=f"{OURS}/{TASK_DECIDED}/{task.id}",
        mandate=scope.mandate,
        instance=scope.instance,
        source=OURS,
        type=TASK_DECIDED,
        time=decision.at,
        data={
            "task": task.id,
            "run": task.run,
            "workflow": task.workflow,
            "node": task.node,
            "title": task.title,
            "port": decision.port,
            "by": decision.by,
            "decided": instant(decision.at),
        },
        workflow=task.workflow,
    )
    try:
        world.bus.publish(scope, event)
    except TransientError:
        LOG.warning("it could not be told that task %s was decided", task.id, exc_info=True)
        return False
    except PermanentError:
        LOG.exception("nobody is told that task %s was decided", task.id)
    return True


def _depth(run: Run) -> int:
    """Return how many runs ended before this one in its chain."""
    found = _CHAIN.search(run.trigger.delivery)
    return int(found[1]) + 1 if found else 0


def _data(world: World, scope: Scope, run: Run) -> JsonObject:
    error = run.error
    failed = RunStatus.CANCELLED if error and error.type == CANCELLED else RunStatus.FAILED
    workflow = world.versions.workflow(scope, run.workflow)
    return {
        "run": run.id,
        "workflow": run.workflow,
        "slug": workflow.slug,
        "title": run.title,
        "version": run.version,
        "status": failed if error else RunStatus.COMPLETED,
        "trigger": run.trigger.kind,
        "error": {"type": error.type, "message": error.message, "node": error.node}
        if error
        else None,
        "started": instant(run.started),
        "ended": instant(run.ended) if run.ended else None,
    }
