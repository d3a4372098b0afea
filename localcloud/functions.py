"""Which code a function name stands for.

`ByName` follows the naming rule of the product; `Given` takes plain functions, for tests.
"""

from __future__ import annotations

import importlib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from importlib.util import find_spec
from typing import Any, Protocol, TypeAlias

Handler: TypeAlias = Callable[[Any, Any], Any]
"""A Lambda's entry: event and context to result, as AWS calls it; JSON, so nothing narrower."""


@dataclass(frozen=True)
class Function:
    """A Lambda as its deployment configures it."""

    name: str
    handler: Handler
    timeout: float = 900.0
    memory: int = 512


class FunctionNotFound(LookupError):
    """No function has this name."""


RATES = {"system-sweeper": 300.0, "triggers-schedule_look": 300.0, "triggers-mail": 60.0}
"""Seconds between two rounds: what template.yaml says, for where there is none."""


class Functions(Protocol):
    """Finds functions by name."""

    @property
    def rates(self) -> Mapping[str, float]:
        """Seconds between two calls, for functions that are called by the clock."""

    @property
    def streams(self) -> Mapping[str, Sequence[Mapping[str, Any]]]:
        """For functions that read the stream of the table `runs`, which records they want."""

    def find(self, name: str) -> Function:
        """Return the function called `name`. Raises FunctionNotFound."""


class Given:
    """Plain functions under full names."""

    def __init__(
        self,
        handlers: Mapping[str, Handler],
        *,
        timeout: float = 900.0,
        rates: Mapping[str, float] | None = None,
        streams: Mapping[str, Sequence[Mapping[str, Any]]] | None = None,
    ) -> None:
        self.rates = rates or {}
        self.streams = streams or {}
        self._handlers = handlers
        self._timeout = timeout

    def find(self, name: str) -> Function:
        """Return the function called `name`. Raises FunctionNotFound."""
        handler = self._handlers.get(name)
        if handler is None:
            raise FunctionNotFound(f"no function is called '{name}'")
        return Function(name, handler, self._timeout)


class ByName:
    """Functions by the product's naming rule: `<prefix>-<type>`, a type's `.` written `-`.

    `stellwerk-flow-if` is a node, `stellwerk-http-request` an action of a toolbox,
    `stellwerk-system-gate` a part of the system. Modules are imported at first use.
    """

    def __init__(self, prefix: str = "stellwerk") -> None:
        self.rates = {f"{prefix}-{name}": seconds for name, seconds in RATES.items()}
        self.streams: Mapping[str, Sequence[Mapping[str, Any]]] = {}
        self._prefix = prefix + "-"
        self._found: dict[str, Function] = {}

    def find(self, name: str) -> Function:
        """Return the function called `name`. Raises FunctionNotFound."""
        if name not in self._found:
            self._found[name] = Function(name, self._load(name))
        return self._found[name]

    def _load(self, name: str) -> Handler:
        parts = name.removeprefix(self._prefix).split("-")
        if not name.startswith(self._prefix) or len(parts) < 2:
            raise FunctionNotFound(f"'{name}' is not named like '{self._prefix}<group>-<type>'")
        roots = ("",) if parts[0] in {"system", "triggers"} else ("nodes.", "toolboxes.")
        for root in roots:
            module = f"{root}{'.'.join(parts)}.handler"
            if exists(module):
                return load(f"{module}.handler")
        raise FunctionNotFound(f"no folder under functions/ is the function '{name}'")


def exists(module: str) -> bool:
    """Whether a module can be imported, its packages included."""
    try:
        return find_spec(module) is not None
    except ModuleNotFoundError:
        return False


def load(handler: str) -> Handler:
    """Import the handler that a string like `nodes.flow.if.handler.handler` names."""
    module, _, attribute = handler.rpartition(".")
    loaded: Handler = getattr(importlib.import_module(module), attribute)
    return loaded
