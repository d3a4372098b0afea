"""What a person says of a run that is to be replayed."""

from __future__ import annotations

from collections.abc import Mapping
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, field

from stellwerk.kernel.ids import NodeKey
from stellwerk.kernel.json import JsonValue


@dataclass(frozen=True)
class Wish:
    """How to replay. `assume_done` and `repeat` name steps by their text, such as `lines[3].book`.

    `from_node` runs again with all that follows; without it the run goes on where it failed.
    `version` None is the run's own.
    """

    from_node: NodeKey | None = None
    assume_done: Mapping[str, JsonValue] = field(default_factory=dict)
    repeat: AbstractSet[str] = frozenset()
    version: int | None = None
