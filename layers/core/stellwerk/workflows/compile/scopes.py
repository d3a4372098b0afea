"""Scopes of a machine.

which variables hold the ports of steps, and how they get from scope to scope.

Amazon's rules: an inner scope reads outer variables but cannot assign them, a name must differ
from every name around it, and reading a variable that was never assigned fails. So each step's
port lives in `n_<key>` of the scope in which the step runs; a branch hands it out, and the scope
around takes it up as `u1_<key>`, the next one as `u2_<key>`. What may be read before it is
assigned is set to null at the start.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from stellwerk.kernel.ids import NodeKey
from stellwerk.workflows.compile.ir import State


class Names:
    """Gives each state of a machine a name of its own, at most 80 characters."""

    LONGEST = 80

    def __init__(self) -> None:
        self._taken: set[str] = set()
        self.asked: set[NodeKey] = set()
        """Steps whose port some state of the machine reads; others need no variable."""
        self.shared: set[NodeKey] = set()
        """Those of them whose port more than the Choice right after them reads."""

    def state(self, wish: str) -> str:
        """Return `wish`, printable and cut, with a number where it is taken."""
        text = "".join(char if char.isprintable() else " " for char in wish)[
            : self.LONGEST
        ].rstrip()
        name, number = text, 1
        while name in self._taken:
            number += 1
            suffix = f" {number}"
            name = text[: self.LONGEST - len(suffix)].rstrip() + suffix
        self._taken.add(name)
        return name


@dataclass(frozen=True)
class Cycle:
    """The passes of a `while`: the states `first` to `last` of a scope run at most `most` times."""

    loop: NodeKey
    first: int
    last: int
    most: int


class Scope:
    """States that share variables: a machine, a branch, an iteration, or the passes of a `while`.

    The passes of a `while` are `inline`: they live among the states of the scope around, and their
    variables are reset by the state that begins a pass.
    """

    def __init__(
        self,
        parent: Scope | None,
        names: Names,
        *,
        certain: frozenset[NodeKey],
        inline: bool = False,
    ) -> None:
        self.parent = parent
        self.names = names
        self.certain = certain
        """Steps that surely run in this scope before anything reads their ports."""
        self.inline = inline
        self.states: list[State] = parent.states if inline and parent else []
        self.cycles: list[Cycle] = parent.cycles if inline and parent else []
        self.start: str | None = None
        self.entry: dict[str, str] = {}
        """Variables that the scope's first state assigns, with their expressions."""
        self.reads: set[NodeKey] = set()
        self.exports: dict[NodeKey, int] = {}
        """Steps whose ports are handed out, with how many scopes they have come up."""
        self.lifted: dict[str, NodeKey] = {}

    def add(self, state: State) -> None:
        """Append a state."""
        self.states.append(state)

    def chain(self) -> Iterator[Scope]:
        """Yield this scope and those around it, innermost first."""
        scope: Scope | None = self
        while scope is not None:
            yield scope
            scope = scope.parent

    def own(self, key: NodeKey) -> str:
        """Return the variable of a step's port where it was surely just assigned."""
        self.names.asked.add(key)
        return lifted(key, 0)

    def read(self, key: NodeKey, home: Scope) -> str:
        """Return the variable by which this scope reads the port of a step that runs in `home`."""
        around = set(self.chain())
        home.reads.add(key)
        self.names.asked.add(key)
        self.names.shared.add(key)
        below = [scope for scope in home.chain() if scope not in around]
        above = [*below[1:], self._meeting(home)]
        for height, (scope, outer) in enumerate(zip(below, above, strict=False)):
            scope.exports[key] = height
            outer.lifted[lifted(key, height + 1)] = key
        return lifted(key, len(below))

    def _meeting(self, home: Scope) -> Scope:
        """The innermost scope that is around both."""
        around = set(self.chain())
        return next(scope for scope in home.chain() if scope in around)

    def unset(self) -> list[str]:
        """Return the variables that may be read before they are assigned."""
        own = [lifted(key, 0) for key in self.reads if key not in self.certain]
        taken_up = [name for name, key in self.lifted.items() if key not in self.certain]
        return sorted([*own, *taken_up])


def lifted(key: NodeKey, height: int) -> str:
    """Return the name of the variable that holds a step's port, `height` scopes above its own."""
    return f"u{height}_{key}" if height else f"n_{key}"
