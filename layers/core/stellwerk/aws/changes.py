"""What the stream of the table `runs` says of runs: looks at their journals, in order."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from stellwerk.aws import keys, watching_keys
from stellwerk.aws.bodies import Bodies
from stellwerk.aws.errors import RawItem
from stellwerk.aws.expressions import Item, decoded
from stellwerk.kernel.ids import InstanceId, MandateId, RunId
from stellwerk.runs.model import Run, RunStatus, Step
from stellwerk.tenancy.scope import Scope, of_platform
from stellwerk.watching.projecting import Look, RunLook

_DIGITS = 40
"""Of a place in a stream, at most."""


@dataclass(frozen=True)
class Change:
    """One record of the stream: where it is in it, and the item as it was then."""

    sequence: str
    image: RawItem


@dataclass
class Changed:
    """What changed of one run. `sequence` is where its first change is in the stream."""

    scope: Scope
    run: RunId
    sequence: str
    looks: list[Look] = field(default_factory=list)


def by_run(changes: Sequence[Change], bodies: Bodies, *, request: str = "") -> Iterator[Changed]:
    """Yield what changed, run by run, each in the order of the stream."""
    found: dict[tuple[str, str, str], Changed] = {}
    for change in changes:
        item = decoded(change.image)
        mandate, instance, kind, run, *_ = str(item["pk"]).split("#")
        if kind != "run":
            continue
        scope = of_platform(MandateId(mandate), request=request).at(InstanceId(instance))
        new = Changed(scope, RunId(run), change.sequence)
        of_run = found.setdefault((mandate, instance, run), new)
        of_run.looks.append(_look(scope, bodies, item, change.sequence))
    yield from found.values()


def bundle_of(change: Change, *, request: str = "") -> tuple[Scope, str]:
    """Return where a bundle of notices is that was opened, and its id."""
    item = decoded(change.image)
    mandate, instance, *_ = str(item["pk"]).split("#")
    scope = of_platform(MandateId(mandate), request=request).at(InstanceId(instance))
    return scope, str(item["sk"]).removeprefix(watching_keys.NOTICE)


def _look(scope: Scope, bodies: Bodies, item: Item, sequence: str) -> Look:
    if item["sk"] == keys.RUN:
        run = bodies.record(scope, item, Run)
        standing = {"status": RunStatus(str(item["status"]))}
        return RunLook(run.model_copy(update=standing), sequence.zfill(_DIGITS))
    return bodies.record(scope, item, Step)
