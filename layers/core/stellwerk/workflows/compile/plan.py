"""Second pass.

a level becomes a sequence of single steps and forks, each step exactly once, nothing copied.

Steps follow each other in topological order; the next pass jumps over what is dead, so exclusive
alternatives need no structure here. Where several tokens may be alive the sources of what
remains become branches of a fork: steps reachable from one branch alone are private to it and
planned the same way, shared ones follow the fork.

A fork ends when its slowest branch ends. Where that could make a shared step wait for something
which is not its ancestor and can wait for weeks, the step becomes a *gate*: a branch of its own,
which starts with the others and is opened by whichever of its ancestors finishes last.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import TypeAlias

from stellwerk.workflows.compile.liveness import Liveness, bits, union
from stellwerk.workflows.compile.refusals import OverBudget

DEEPEST = 40
"""Forks within forks that a plan may have; the nesting of a definition follows it."""


@dataclass(frozen=True)
class Do:
    """Run one step."""

    step: int


@dataclass(frozen=True)
class Branch:
    """Steps that run beside the other branches; `gate` is the step whose join opens the branch."""

    sources: tuple[int, ...]
    body: Sequence
    gate: int | None = None


@dataclass(frozen=True)
class Fork:
    """Branches at once; what follows waits for all that were entered."""

    branches: tuple[Branch, ...]
    steps: int
    """All steps inside, as a bit set."""


Move: TypeAlias = "Do | Fork"
Sequence: TypeAlias = "tuple[Do | Fork, ...]"


def plan(live: Liveness) -> Sequence:
    """Return the sequence of a whole level.

    Raises OverBudget where forks nest deeper than `DEEPEST`.
    """
    return Planner(live).sequence((1 << live.count) - 1, depth=0)


def gates(sequence: Sequence) -> Iterator[int]:
    """Yield the gated steps of a sequence, at any depth."""
    for move in sequence:
        if isinstance(move, Fork):
            for branch in move.branches:
                if branch.gate is not None:
                    yield branch.gate
                yield from gates(branch.body)


class Planner:
    """Plans regions of one level."""

    def __init__(self, live: Liveness) -> None:
        self.live = live
        self.waiting = union(1 << n for n, step in enumerate(live.level.steps) if step.waits)

    def sequence(self, region: int, *, depth: int) -> Sequence:
        """Plan the steps of `region`; edges from outside it are decided when it starts."""
        self._refuse_depth(region, depth)
        remaining = Remaining(self.live, region)
        moves: list[Move] = []
        while remaining.steps:
            single = self._alone(remaining)
            if single is not None:
                moves.append(Do(single))
                remaining.remove(1 << single)
            else:
                fork = self._fork(remaining, depth)
                moves.append(fork)
                remaining.remove(fork.steps)
        return tuple(moves)

    def _refuse_depth(self, region: int, depth: int) -> None:
        if depth > DEEPEST:
            first = self.live.level.steps[next(bits(region))]
            raise OverBudget(
                f"Forks lie within forks more than {DEEPEST} deep, at node {first.key}.",
                node=first.key,
                remedy="Move the inner part into a workflow of its own, a sub-workflow.",
            )

    def _alone(self, remaining: Remaining) -> int | None:
        """The first source that excludes all others and keeps no stranger waiting."""
        sources = remaining.sources()
        for source in sources:
            others = (other for other in sources if other != source)
            if all(self.live.exclusive(source, other) for other in others):
                strangers = remaining.steps & ~self.live.descendants[source]
                if not self._kept_waiting(1 << source, strangers):
                    return source
        return None

    def _kept_waiting(self, steps: int, later: int) -> int | None:
        """The first of `later` that would wait for a patient one of `steps`, no ancestor."""
        patient = steps & self.waiting
        if not patient:
            return None
        for step in bits(later):
            strangers = patient & ~self.live.ancestors[step] & ~(1 << step)
            if any(not self.live.exclusive(step, stranger) for stranger in bits(strangers)):
                return step
        return None

    def _shared_kept_waiting(self, private: int, shared: int) -> int | None:
        """The first step to follow a fork that would wait for a stranger in one of its branches."""
        if not private & self.waiting:
            return None
        minimal = Remaining(self.live, shared).sources()
        return self._kept_waiting(private, union(1 << step for step in minimal))

    def _fork(self, remaining: Remaining, depth: int) -> Fork:
        groups = self._groups(remaining.sources())
        gated: list[int] = []
        while True:
            tops = [*groups, *((gate,) for gate in gated)]
            private, shared = self._parts(remaining, tops, union(1 << gate for gate in gated))
            stranger = self._shared_kept_waiting(union(private), shared)
            if stranger is None:
                break
            gated.append(stranger)
        branches = tuple(
            Branch(
                sources=top,
                body=self.sequence(part, depth=depth + 1),
                gate=top[0] if top[0] in gated else None,
            )
            for top, part in zip(tops, private, strict=True)
        )
        return Fork(branches, union(private))

    def _groups(self, sources: Iterable[int]) -> list[tuple[int, ...]]:
        """Sources of which no two can both be alive share a branch.

        with one group only, none does.
        """
        groups: list[tuple[int, ...]] = []
        for source in sources:
            for number, group in enumerate(groups):
                if all(self.live.exclusive(source, other) for other in group):
                    groups[number] = (*group, source)
                    break
            else:
                groups.append((source,))
        if len(groups) == 1:
            return [(source,) for source in groups[0]]
        return groups

    def _parts(
        self, remaining: Remaining, tops: Iterable[tuple[int, ...]], gated: int
    ) -> tuple[list[int], int]:
        """The private part of each branch, and what they share.

        nobody reaches past a gate but itself.
        """
        reached = [
            union(self._reach(remaining.steps, step, gated & ~(1 << step)) for step in top)
            for top in tops
        ]
        once = shared = 0
        for part in reached:
            shared |= once & part
            once |= part
        return [part & ~shared for part in reached], shared

    def _reach(self, region: int, start: int, closed: int) -> int:
        if not closed:
            return self.live.descendants[start] & region
        found = 1 << start
        ahead = [start]
        while ahead:
            for step in self.live.level.successors(ahead.pop()):
                bit = 1 << step
                if region & bit and not (found | closed) & bit:
                    found |= bit
                    ahead.append(step)
        return found


class Remaining:
    """The steps of a region not planned yet, and how many predecessors each still has there."""

    def __init__(self, live: Liveness, region: int) -> None:
        self.live = live
        self.steps = region
        self._missing = {
            step: sum(region >> source & 1 for source, _ in live.level.incoming[step])
            for step in bits(region)
        }
        self._ready = {step for step, count in self._missing.items() if not count}

    def sources(self) -> list[int]:
        """Return the steps without a predecessor left, in order."""
        return sorted(self._ready)

    def remove(self, steps: int) -> None:
        """Take planned steps out."""
        self.steps &= ~steps
        self._ready -= set(bits(steps))
        for step in bits(steps):
            for target in self.live.level.successors(step):
                if self.steps >> target & 1:
                    self._missing[target] -= 1
                    if not self._missing[target]:
                        self._ready.add(target)
