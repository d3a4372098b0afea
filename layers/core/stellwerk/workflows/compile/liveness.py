"""What is known of tokens before anything runs.

which steps must, may or cannot be alive together.

Sets of steps and of tokens are Python integers used as bit sets: bit n stands for number n.

A *token class* is a condition of the level: "port p of step s fired". Steps with a single port
share the class of what leads to them, so a chain has one class however long it is. For classes
it is computed which may be true in the same execution (`together`), without false negatives; two
tokens that can never both be true are exclusive, and need neither a Parallel nor a guard.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from functools import cached_property

from stellwerk.workflows.compile.normalise import Level

Token = tuple[int, str]
"""A step and a port that it fired; steps without ports fire the port "", which leads nowhere."""

ENTRY: Token = (-1, "")
"""The token that enters a loop's body: all its sources are alive."""


def bits(number: int) -> Iterator[int]:
    """Yield the positions of the bits of `number`, the lowest first."""
    while number:
        low = number & -number
        yield low.bit_length() - 1
        number ^= low


def union(numbers: Iterable[int]) -> int:
    """Return the union of bit sets."""
    found = 0
    for number in numbers:
        found |= number
    return found


class Liveness:
    """Answers about one level."""

    def __init__(self, level: Level) -> None:
        self.level = level
        self.count = len(level.steps)
        self.sources = union(1 << n for n in range(self.count) if not level.incoming[n])
        self.ancestors = self._ancestors()
        self.descendants = self._descendants()
        self._certain = self._certainties()

    @cached_property
    def one_token(self) -> bool:
        """Whether never more than one token is alive.

        no port has two edges, the entry is one step.
        """
        forks = any(len(ends) > 1 for ports in self.level.targets for ends in ports.values())
        many = self.level.loop is not None and self.sources.bit_count() > 1
        return not forks and not many

    def ports(self, step: int) -> tuple[str, ...]:
        """Return the ports that a step can fire; "" for a step without ports."""
        return self.level.steps[step].ports or ("",)

    def certain(self, token: Token) -> int:
        """Return the steps that surely run once `token` was fired."""
        if token == ENTRY:
            return union(self._certain[source] for source in bits(self.sources))
        step, port = token
        return union(self._certain[target] for target in self.level.targets[step].get(port, ()))

    def surely(self, step: int) -> int:
        """Return the steps that surely run if `step` does, itself included."""
        return self._certain[step]

    def possible(self, token: Token) -> int:
        """Return the steps that may be alive in an execution in which `token` was fired."""
        if token == ENTRY:
            return (1 << self.count) - 1
        step, port = token
        if self.one_token:
            ahead = union(
                self.descendants[target] for target in self.level.targets[step].get(port, ())
            )
            return ahead | self.ancestors[step] | 1 << step
        return self._possible_by_class(self._classes[token])

    def exclusive(self, one: int, other: int) -> bool:
        """Whether two different steps can never both run."""
        if self.one_token:
            mutual = self.ancestors[one] >> other | self.ancestors[other] >> one
            return not mutual & 1
        a, b = self._step_class[one], self._step_class[other]
        return a != b and not self._together[a] >> b & 1

    def _ancestors(self) -> list[int]:
        found: list[int] = []
        for edges in self.level.incoming:
            found.append(union(found[source] | 1 << source for source, _ in edges))
        return found

    def _descendants(self) -> list[int]:
        """Steps reachable from each, itself included."""
        found = [0] * self.count
        for step in reversed(range(self.count)):
            found[step] = 1 << step | union(found[end] for end in self.level.successors(step))
        return found

    def _certainties(self) -> list[int]:
        found = [0] * self.count
        for step in reversed(range(self.count)):
            by_port = [
                union(found[end] for end in self.level.targets[step].get(port, ()))
                for port in self.ports(step)
            ]
            common = by_port[0]
            for other in by_port[1:]:
                common &= other
            found[step] = common | 1 << step
        return found

    @cached_property
    def _tables(self) -> tuple[list[int], dict[Token, int], list[int]]:
        """Classes of steps, classes of tokens, and for each class those that go with it."""
        together: list[int] = []
        step_class: list[int] = []
        classes: dict[Token, int] = {}

        def new(parents: Iterable[int]) -> int:
            number = len(together)
            mates = union(together[parent] | 1 << parent for parent in parents)
            together.append(mates)
            for mate in bits(mates):
                together[mate] |= 1 << number
            return number

        if self.level.loop is not None:
            new(())
        for step, edges in enumerate(self.level.incoming):
            parents = {classes[edge] for edge in edges}
            if not edges:
                parents = set() if self.level.loop is None else {0}
            own = parents.pop() if len(parents) == 1 else new(parents)
            step_class.append(own)
            ports = self.ports(step)
            for port in ports:
                classes[(step, port)] = own
            if len(ports) > 1:
                siblings: list[int] = []
                for port in ports:
                    number = new([own])
                    for sibling in siblings:
                        together[sibling] &= ~(1 << number)
                        together[number] &= ~(1 << sibling)
                    siblings.append(number)
                    classes[(step, port)] = number
        return step_class, classes, together

    @property
    def _step_class(self) -> list[int]:
        return self._tables[0]

    @property
    def _classes(self) -> dict[Token, int]:
        return self._tables[1]

    @property
    def _together(self) -> list[int]:
        return self._tables[2]

    @cached_property
    def _steps_of_class(self) -> dict[int, int]:
        found: dict[int, int] = {}
        for step, number in enumerate(self._step_class):
            found[number] = found.get(number, 0) | 1 << step
        return found

    def _possible_by_class(self, number: int) -> int:
        memo = self._possible_memo
        if number not in memo:
            mates = bits(self._together[number] | 1 << number)
            memo[number] = union(self._steps_of_class.get(mate, 0) for mate in mates)
        return memo[number]

    @cached_property
    def _possible_memo(self) -> dict[int, int]:
        return {}
