"""What the names in an expression stand for while a node resolves its parameters."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import Enum
from typing import Final, Literal, TypeAlias

from stellwerk.kernel.ids import NodeKey
from stellwerk.kernel.json import JsonObject, JsonValue


class Absence(Enum):
    """The value of a node that did not run, or of a name that is not there. Null is a value."""

    ABSENT = "absent"


ABSENT: Final = Absence.ABSENT
Known: TypeAlias = JsonValue | Literal[Absence.ABSENT]
VARIABLES: Final = ("input", "nodes", "trigger", "run", "vars", "item", "index")
LOOP_VARIABLES: Final = frozenset({"item", "index"})


@dataclass(frozen=True)
class Names:
    """The values behind `$input`, `$nodes`, `$trigger`, `$run`, `$vars`, `$item` and `$index`.

    A node that is not in `nodes` counts as absent. `item` and `index` are absent outside loops.
    """

    nodes: Mapping[NodeKey, Known] = field(default_factory=dict)
    input: Known = None
    trigger: Known = None
    run: JsonObject = field(default_factory=dict)
    vars: JsonObject = field(default_factory=dict)
    item: Known = ABSENT
    index: Known = ABSENT

    def of(self, name: str) -> Known:
        """Return the value of variable `name`, any of VARIABLES but `nodes`."""
        values: dict[str, Known] = {
            "input": self.input,
            "trigger": self.trigger,
            "run": self.run,
            "vars": self.vars,
            "item": self.item,
            "index": self.index,
        }
        return values[name]
