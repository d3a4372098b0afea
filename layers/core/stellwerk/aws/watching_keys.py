"""Keys of what watching runs leaves: see `keys`, of which this is a part.

| item | pk (after mandate#instance) | sk |
|---|---|---|
| where a run's event log stands | run#R#events | head |
| what its event log has told | run#R#events | page#name |
| events of a run, up to a number | run#R#events | event#000000000012 |
| that a run was counted, and when it is removed | run#R | over |
| that a run replays another | run#origin | replay#R |
| what came of a workflow's runs on a day | days#W | day#shard |
| notices on their way | notices | notice#sha256 |
| what became of a message | messages | moment#its id |
"""

from __future__ import annotations

from datetime import datetime

from stellwerk.aws.keys import Key, listed_at
from stellwerk.kernel.ids import RunId, WorkflowId
from stellwerk.tenancy.scope import Scope

LAST_EVENT = "event#~"
"""Sorts after all events of a run."""
NOTICE, REPLAY = "notice#", "replay#"


def events_head(scope: Scope, run: RunId) -> Key:
    """Return the key of where a run's event log stands; all of the log shares the partition."""
    return Key(_within(scope, f"run#{run}#events"), "head")


def events_page(scope: Scope, run: RunId, name: str) -> Key:
    """Return the key of a piece of what a run's event log has told."""
    return Key(_within(scope, f"run#{run}#events"), f"page#{name}")


def events_until(scope: Scope, run: RunId, last: int) -> Key:
    """Return the key of an item of events, of which it holds the number of the last one."""
    return Key(_within(scope, f"run#{run}#events"), f"event#{last:012d}")


def events_from(scope: Scope, run: RunId, first: int) -> Key:
    """Return where the events from a number on are: the item that holds it, and all behind."""
    return events_until(scope, run, first)


def run_over(scope: Scope, run: RunId) -> Key:
    """Return the key of the mark that a run was counted, by which it is found when it goes."""
    return Key(_within(scope, f"run#{run}"), "over")


def runs_kept(scope: Scope) -> str:
    """Return the index key of the runs that are over, by when they go."""
    return _within(scope, "kept")


def replay_of_run(scope: Scope, origin: RunId, run: RunId) -> Key:
    """Return the key of the note, at the first run of a family, that a run replays one of it."""
    return Key(_within(scope, f"run#{origin}"), f"{REPLAY}{run}")


def day_of_workflow(scope: Scope, workflow: WorkflowId, day: str, shard: int = 0) -> Key:
    """Return the key of what came of a workflow's runs on a day; days share a partition."""
    return Key(_within(scope, f"days#{workflow}"), f"{day}#{shard}")


def notice(scope: Scope, bundle: str) -> Key:
    """Return the key of notices on their way."""
    return Key(_within(scope, "notices"), f"{NOTICE}{bundle}")


def notices_due(scope: Scope) -> str:
    """Return the index key of the notices that are to be looked at, by when."""
    return _within(scope, "notices")


def messages(scope: Scope) -> str:
    """Return the partition of what became of messages."""
    return _within(scope, "messages")


def message(scope: Scope, moment: datetime, message: str) -> Key:
    """Return the key of what became of a message."""
    return Key(messages(scope), listed_at(moment, message))


def _within(scope: Scope, partition: str) -> str:
    return f"{scope.mandate}#{scope.instance}#{partition}"
