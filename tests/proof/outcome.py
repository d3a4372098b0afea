"""What a run of a graph comes to: the words in which the reference and the machine are compared."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

from stellwerk.kernel.ids import ROOT, NodeKey, Path
from stellwerk.kernel.json import JsonValue

Place = tuple[Path, NodeKey]
"""A node at its place in the loops around it."""
Fired = tuple[str, JsonValue]
"""The port that a node fires, and its value."""
SEVERAL = "(one of several)"
"""The type of a handled error where errors of several types can have been the first."""


@dataclass(frozen=True)
class Failed:
    """A node has failed for good. A fatal failure, as of a stop node, passes through every loop."""

    type: str
    message: str = ""
    fatal: bool = False


@dataclass(frozen=True)
class Error(Failed):
    """A failure at its place."""

    place: Place = (ROOT, NodeKey(""))


Behaviour = Callable[[NodeKey, Path, JsonValue, int], Fired | Failed]
"""What a node does, given its path, its input and, of a while, the number of the pass.

A for_each answers with its items as value; a while fires `again` or `out`; a stop that does not
fail gives the run its value as output.
"""


@dataclass(frozen=True)
class Ran:
    """One execution of a node that fired."""

    input: JsonValue
    port: str
    value: JsonValue


@dataclass
class Outcome:
    """What a run does.

    `ran` holds every execution that can have fired, `certain` the places of those that must have.
    The two differ where something failed, because what ran beside it is unspecified. `failed` are
    the places that can have failed, `errors` those failures that can be the run's. `ambiguous` says
    that the meaning allows more than one ending.
    """

    completed: bool = True
    output: JsonValue = None
    ran: dict[Place, Ran] = field(default_factory=dict)
    certain: set[Place] = field(default_factory=set)
    failed: set[Place] = field(default_factory=set)
    errors: list[Error] = field(default_factory=list)
    ambiguous: bool = False
