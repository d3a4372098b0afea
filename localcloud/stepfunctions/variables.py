"""The variables of an execution: 256 KiB each, 10 MiB in all, one owner for each name."""

from __future__ import annotations

from typing import Any

from moto.stepfunctions.parser.asl.eval.variable_store import VariableStore

from localcloud.stepfunctions.json_values import size_of

ONE = 256 * 1024
"""Bytes of JSON that one variable may hold."""
ALL = 10 * 1024 * 1024
"""Bytes of JSON that all variables which a state can see may hold together."""


class VariablesTooLarge(Exception):
    """A variable, or all of them together, are larger than AWS keeps."""


class LimitedVariables(VariableStore):
    """Variables of one scope, measured as they are assigned."""

    def __init__(self) -> None:
        super().__init__()  # type: ignore[no-untyped-call]  # moto has no types here
        self._sizes: dict[str, int] = {}

    @classmethod
    def as_inner_scope_of(cls, outer_variable_store: VariableStore) -> LimitedVariables:
        """Return a scope that reads the variables of `outer_variable_store`."""
        inner = cls()
        inner._outer_scope.update(outer_variable_store._outer_scope)
        inner._outer_scope.update(outer_variable_store._inner_scope)
        if isinstance(outer_variable_store, LimitedVariables):
            inner._sizes.update(outer_variable_store._sizes)
        return inner

    def set(self, variable_identifier: str, variable_value: Any) -> None:
        """Assign a variable; raises VariablesTooLarge, or moto's error for an outer variable."""
        size = size_of(variable_value)
        if size > ONE:
            raise VariablesTooLarge(f"The variable '{variable_identifier}' has {size} bytes.")
        super().set(variable_identifier, variable_value)
        self._sizes[variable_identifier] = size
        if sum(self._sizes.values()) > ALL:
            raise VariablesTooLarge(f"The variables have more than {ALL} bytes together.")

    def has(self, name: str) -> bool:
        """Whether a variable was assigned, here or outside."""
        return name in self._inner_scope or name in self._outer_scope

    def value(self, name: str) -> object:
        """Return a variable's value; KeyError if it was never assigned."""
        if name in self._inner_scope:
            return self._inner_scope[name]
        return self._outer_scope[name]
