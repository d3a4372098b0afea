"""The journal: the steps of runs.

Steps at the root lie with their run and are read with one query. Steps inside loops are spread over
shards, which are only looked at if the run's mark says so. The mark is written with what every loop
begins with: a fill of its scopes, or the scope of its first pass.
"""

from __future__ import annotations

import base64
import json
from collections.abc import Iterator, Sequence

from stellwerk.aws import keys as place
from stellwerk.aws.bodies import Bodies, written_before
from stellwerk.aws.errors import Refused
from stellwerk.aws.expressions import Item, Put, absent, equals
from stellwerk.aws.items import Items, Range
from stellwerk.kernel.errors import BadInput, Conflict
from stellwerk.kernel.ids import ROOT, RunId
from stellwerk.kernel.pages import Page
from stellwerk.runs.model import Step, StepKey
from stellwerk.tenancy.scope import Scope
from stellwerk.workflows.graph import enclosing


class DynamoJournal:
    """The journal on the table `runs`.

    Requests: read 1 per 100 keys, write 1, fill 1 per 25 steps, page and steps 1 (9 with loops)
    per MB.
    """

    def __init__(self, items: Items, bodies: Bodies) -> None:
        self._items = items
        self._bodies = bodies

    def read(self, scope: Scope, run: RunId, keys: Sequence[StepKey]) -> dict[StepKey, Step]:
        """Return those of `keys` that exist."""
        places = {place.step(scope, run, key): key for key in keys}
        found = self._items.batch(list(places))
        return {
            places[where]: self._bodies.record(scope, item, Step) for where, item in found.items()
        }

    def write(self, scope: Scope, step: Step) -> Step:
        """Write `step` over the revision that it names; return it one higher."""
        put = step_put(self._bodies, scope, step)
        try:
            if _begins_loop(step):
                self._items.transact([put, _mark(scope, step.run)])
            else:
                self._items.put(put)
        except Refused as refused:
            if not written_before(put.item, refused.reasons[0]):
                raise step_conflict(step) from refused
        return step.model_copy(update={"revision": step.revision + 1})

    def fill(self, scope: Scope, run: RunId, steps: Sequence[Step]) -> None:
        """Write many steps without condition; of equal keys the last."""
        puts = {step.key: step_put(self._bodies, scope, step) for step in steps}
        in_loops = any(step.path != ROOT for step in steps)
        self._items.fill([*([_mark(scope, run)] if in_loops else []), *puts.values()])

    def page(
        self, scope: Scope, run: RunId, *, cursor: str | None = None, limit: int = 1000
    ) -> Page[Step]:
        """Return a page of entries: one query, and one per shard that it reaches."""
        partitions = [place.run(scope, run).pk, *place.loop_partitions(scope, run)]
        number, last = _position(cursor, len(partitions))
        found: list[Item] = []
        for shard in range(number, len(partitions)):
            prefix = place.STEP if shard == 0 else None
            after = {"pk": partitions[shard], "sk": last} if last else None
            wanted = Range(partitions[shard], prefix=prefix, after=after)
            for item in self._items.query(wanted, limit=limit + 1 - len(found)):
                if len(found) == limit:
                    steps = [self._bodies.record(scope, each, Step) for each in found]
                    return Page(steps, _cursor(partitions, found[-1]))
                found.append(item)
            last = ""
        return Page([self._bodies.record(scope, each, Step) for each in found])

    def steps(self, scope: Scope, run: RunId) -> Iterator[Step]:
        """Yield all steps: one query, and one per shard where the run has steps inside loops."""
        root = place.run(scope, run).pk
        in_loops = False
        for item in self._items.query(Range(root, prefix=place.STEPS)):
            if item["sk"] == place.LOOPS:
                in_loops = True
            else:
                yield self._bodies.record(scope, item, Step)
        if in_loops:
            for partition in place.loop_partitions(scope, run):
                for item in self._items.query(Range(partition)):
                    yield self._bodies.record(scope, item, Step)


def step_put(bodies: Bodies, scope: Scope, step: Step) -> Put:
    """Return the write of a step under its revision's condition."""
    return Put(
        place.step(scope, step.run, step.key),
        bodies.item(scope, step, f"runs/{step.run}"),
        when=(equals("revision", step.revision) if step.revision else absent(),),
    )


def step_conflict(step: Step) -> Conflict:
    """Return the error of a step that is not stored as its writer thought."""
    expected = f"revision {step.revision}" if step.revision else "not there yet"
    return Conflict(
        f"step {step.key.text} of run {step.run} is not stored as {expected}",
        remedy="Read the step again; another attempt has written it.",
    )


def _cursor(partitions: Sequence[str], last: Item) -> str:
    position = [partitions.index(str(last["pk"])), last["sk"]]
    return base64.urlsafe_b64encode(json.dumps(position).encode()).decode()


def _position(cursor: str | None, partitions: int) -> tuple[int, str]:
    """Return the number of the partition and the key in it behind which a page begins."""
    if cursor is None:
        return 0, ""
    try:
        number, last = json.loads(base64.urlsafe_b64decode(cursor.encode()))
        found = range(partitions)[int(number)], str(last)
    except (IndexError, TypeError, ValueError) as error:
        raise BadInput(
            f"'{cursor}' is not a cursor", remedy="Use the cursor of the page before."
        ) from error
    return found


def _begins_loop(step: Step) -> bool:
    for loop, index, path in enclosing(step.path):
        if path == step.path:
            return loop == step.node and index == 0
    return False


def _mark(scope: Scope, run: RunId) -> Put:
    return Put(place.loops(scope, run), {})
