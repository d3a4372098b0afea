"""Third pass, first half.

sequences become states, and every transition goes straight to what is alive.

A transition knows which token was just fired. Walking along the sequence from there, each move
is surely alive (go there), surely dead (pass over), or unknown (a Choice asks the variables). So
a join of exclusive branches is a plain goto, and a guard exists only where nothing else can
tell.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from enum import Enum
from typing import Protocol

from stellwerk.kernel.ids import NodeKey
from stellwerk.workflows.compile.ir import EVERY_ERROR, Catch, Choice, Parallel, quoted
from stellwerk.workflows.compile.liveness import Liveness, Token, bits, union
from stellwerk.workflows.compile.plan import Branch, Do, Fork, Move, Sequence
from stellwerk.workflows.compile.scopes import Scope


class State(Enum):
    """What is known of a move."""

    ALIVE = "alive"
    DEAD = "dead"
    UNKNOWN = "unknown"


@dataclass(frozen=True)
class Facts:
    """What is known at a transition.

    one of `tokens` was fired (if any are named), `dead` steps are dead.
    """

    tokens: frozenset[Token] = frozenset()
    dead: int = 0

    @staticmethod
    def merged(many: Iterable[Facts]) -> Facts:
        """Return what holds whichever of `many` holds."""
        tokens: frozenset[Token] | None = None
        dead = -1
        known = True
        for facts in many:
            dead &= facts.dead
            known = known and bool(facts.tokens)
            tokens = facts.tokens if tokens is None else tokens | facts.tokens
        return Facts(tokens if known and tokens else frozenset(), max(dead, 0))


class Steps(Protocol):
    """Emits the states of single steps; see `tasks`."""

    def step(self, track: Track, number: int, name: str, exits: Exits) -> None:
        """Add the states of step `number`, the first of them called `name`."""

    def failures(self, track: Track) -> None:
        """Add the states that handle the failures of the track's steps, after all those."""

    def closing(self, track: Track, loop: NodeKey | None = None) -> str:
        """Return the state that closes what is dead after an error, and fails with the error."""

    def gate(self, track: Track, name: str, key: NodeKey, after: str, *, token: bool) -> None:
        """Add a state that waits for, or reads, whether the join of `key` is alive."""


class Exits(Protocol):
    """Where to go on when a step has fired a port."""

    def __call__(self, port: str) -> str | None:
        """Return the next state."""


class Level:
    """What the tracks of one level share.

    the analysis, where each step runs, and how steps are emitted.
    """

    def __init__(self, live: Liveness, steps: Steps, path: str) -> None:
        self.live = live
        self.steps = steps
        self.path = path
        """The steps' path as a payload writes it: text or JSONata."""
        self.homes: dict[int, Scope] = {}

    def key(self, step: int) -> NodeKey:
        """Return the key of a step."""
        return self.live.level.steps[step].key

    def keys(self, steps: int) -> frozenset[NodeKey]:
        """Return the keys of a set of steps."""
        return frozenset(self.key(step) for step in bits(steps))


class Track:
    """Turns one sequence into states of one scope.

    `end` is where to go after it, None to end the scope. A `nested` one is a branch of its level:
    an error there is only passed on, for the other branches are not yet dead.
    """

    def __init__(
        self,
        level: Level,
        scope: Scope,
        moves: Sequence,
        end: str | None = None,
        *,
        nested: bool = False,
    ) -> None:
        self.level = level
        self.nested = nested
        self.live = level.live
        self.scope = scope
        self.moves = moves
        self.end = end
        self._inside = [_steps(move) for move in moves]
        self.sure = union(
            1 << n
            for n in bits(union(self._inside))
            if any(level.key(n) in s.certain for s in scope.chain())
        )
        self._entries: list[list[Facts]] = [[] for _ in moves]
        self._doubts: list[list[Facts]] = [[] for _ in moves]
        self._names: dict[int, str] = {}
        self._guards: dict[int, str] = {}
        for move in moves:
            if isinstance(move, Do):
                level.homes[move.step] = scope

    def go(self, position: int, facts: Facts) -> str | None:
        """Return the state to go to from before `position`."""
        ahead = self._possible(facts)
        for place in range(position, len(self.moves)):
            inside = self._inside[place]
            state = State.DEAD
            if inside & (ahead | self.sure) & ~facts.dead:
                state = self._state(place, facts)
            if state is State.ALIVE:
                self._entries[place].append(facts)
                return self.name(place)
            if state is State.UNKNOWN:
                self._doubts[place].append(facts)
                return self._guard(place)
            facts = Facts(facts.tokens, facts.dead | inside)
        return self.end

    def emit(self) -> None:
        """Add the states of all moves that something goes to."""
        for place, move in enumerate(self.moves):
            if self._doubts[place]:
                self._emit_guard(place)
            facts = Facts.merged(self._entries[place])
            if isinstance(move, Do):
                self.level.steps.step(
                    self, move.step, self.name(place), self._exits(place, move.step, facts.dead)
                )
            else:
                self._emit_fork(place, move, facts)
        self.level.steps.failures(self)

    def enter(self, step: int) -> str:
        """Return the state of a step that is known to be alive."""
        place = next(n for n, move in enumerate(self.moves) if move == Do(step))
        self._entries[place].append(Facts())
        return self.name(place)

    def name(self, place: int) -> str:
        """Return the name of a move's first state."""
        if place not in self._names:
            move = self.moves[place]
            if isinstance(move, Do):
                step = self.live.level.steps[move.step]
                wish = f"{step.key} · {step.title}"
            else:
                wish = " + ".join(self.level.key(branch.sources[0]) for branch in move.branches)
            self._names[place] = self.scope.names.state(wish)
        return self._names[place]

    def _exits(self, place: int, step: int, dead: int) -> Exits:
        def leave(port: str) -> str | None:
            return self.go(place + 1, Facts(frozenset({(step, port)}), dead))

        return leave

    def _possible(self, facts: Facts) -> int:
        if not facts.tokens:
            return -1
        return union(self.live.possible(token) for token in facts.tokens)

    def _state(self, place: int, facts: Facts) -> State:
        certain = self.sure
        if facts.tokens:
            common = -1
            for token in facts.tokens:
                common &= self.live.certain(token)
            certain |= common
        if self._inside[place] & certain & ~facts.dead:
            return State.ALIVE
        edges = self._edges(place)
        if all(facts.dead >> source & 1 for source, _ in edges):
            return State.DEAD
        return State.UNKNOWN

    def _edges(self, place: int) -> list[Token]:
        """The edges that lead into a move from outside it."""
        inside = self._inside[place]
        return sorted(
            {
                edge
                for step in bits(inside)
                for edge in self.live.level.incoming[step]
                if not inside >> edge[0] & 1
            }
        )

    def _guard(self, place: int) -> str:
        if place not in self._guards:
            move = self.moves[place]
            first = move.step if isinstance(move, Do) else move.branches[0].sources[0]
            self._guards[place] = self.scope.names.state(f"{self.level.key(first)} ? alive")
        return self._guards[place]

    def _emit_guard(self, place: int) -> None:
        facts = Facts.merged(self._doubts[place])
        alive = " or ".join(self.condition(edge) for edge in self._edges(place))
        self._entries[place].append(facts)
        dead = Facts(facts.tokens, facts.dead | self._inside[place])
        otherwise = self.go(place + 1, dead)
        rules = ((alive, self.name(place)),)
        self.scope.add(Choice(self._guard(place), rules, otherwise))

    def condition(self, token: Token) -> str:
        """Return JSONata that says whether a step has fired a port."""
        step, port = token
        variable = self.scope.read(self.level.key(step), self.level.homes[step])
        return f"${variable} = {quoted(port)}"

    def _emit_fork(self, place: int, fork: Fork, facts: Facts) -> None:
        branches = tuple(self._branch(branch, facts) for branch in fork.branches)
        after = self.go(place + 1, facts)
        catch = () if self.nested else (Catch((EVERY_ERROR,), self.level.steps.closing(self)),)
        self.scope.add(Parallel(self.name(place), branches, after, catch))

    def _branch(self, branch: Branch, facts: Facts) -> Scope:
        certain = self._certain(branch, facts)
        scope = Scope(self.scope, self.scope.names, certain=self.level.keys(certain))
        track = Track(self.level, scope, branch.body, nested=True)
        if branch.gate is None:
            scope.start = track.go(0, facts)
        else:
            scope.start = self._gate(track, branch.gate)
        track.emit()
        return scope

    def _certain(self, branch: Branch, facts: Facts) -> int:
        """The steps of a branch that surely run."""
        if branch.gate is not None or not facts.tokens:
            return 0
        common = -1
        for token in facts.tokens:
            common &= self.live.certain(token)
        inside = union(_steps(move) for move in branch.body)
        return common & inside

    def _gate(self, track: Track, step: int) -> str:
        """States that wait until all ancestors of `step` are decided."""
        key, scope = self.level.key(step), track.scope
        wait = scope.names.state(f"{key} : gate")
        ask = scope.names.state(f"{key} : opened")
        choose = scope.names.state(f"{key} ? opened")
        self.level.steps.gate(track, wait, key, ask, token=True)
        self.level.steps.gate(track, ask, key, choose, token=False)
        alive = track.enter(step)
        dead = track.go(0, Facts(dead=1 << step))
        scope.add(Choice(choose, (("$states.input = 'live'", alive),), dead))
        return wait


def _steps(move: Move) -> int:
    return 1 << move.step if isinstance(move, Do) else move.steps
