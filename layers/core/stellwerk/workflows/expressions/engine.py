"""JSONata under bounds, with absent values, exact nulls, and arithmetic as in JavaScript."""

from __future__ import annotations

import math
from collections.abc import Mapping

from jsonata.jexception import JException
from jsonata.jsonata import Jsonata
from jsonata.parser import Parser
from jsonata.utils import Utils

from stellwerk.workflows.expressions.bounds import ENTRIES, Bounds, Halt, too_large
from stellwerk.workflows.expressions.names import ABSENT
from stellwerk.workflows.expressions.patterns import compile_pattern

FORGIVING = {"default": 2, "exists": 1}
"""Functions whose first argument may be absent, and how many arguments they take."""
FUNCTIONS = frozenset(Jsonata.static_frame.bindings) - {"eval"} | set(FORGIVING)
_WALK = {"string", "clone", "distinct", None}
"""Functions of the library that walk through values where nothing can interrupt them."""


class Engine(Jsonata):
    """One evaluation: made anew for each, because the library keeps its state in the instance."""

    def __init__(self, bounds: Bounds) -> None:
        self._outer: Jsonata | None = getattr(Jsonata.CURRENT, "jsonata", None)
        super().__init__("null", compile_pattern)
        self.set_output_convert_nulls(False)
        self.set_validate_input(False)
        self._bounds = bounds
        self._forgiving = 0
        self._own: dict[str, object] = {
            "default": Jsonata.JLambda(_default),
            "exists": Jsonata.static_frame.lookup("exists"),
            "eval": None,
        }

    def run(self, tree: Parser.Symbol, values: Mapping[str, object]) -> object:
        """Return what `tree` gives, None if nothing; raise Halt or what the library raises."""
        self.ast = tree
        try:
            return self.evaluate(None, {**self._own, **values})
        finally:
            self._leave_thread()

    def absent(self, message: str, remedy: str) -> None:
        """Raise Halt unless absence is expected here."""
        if not self._forgiving:
            raise Halt(message, remedy=remedy, absent=True)

    def _leave_thread(self) -> None:
        """Hand the thread back: the library evaluates on whichever instance it met last."""
        if self._outer is None:
            del Jsonata.CURRENT.jsonata
        else:
            Jsonata.CURRENT.jsonata = self._outer

    def _eval(
        self, expr: Parser.Symbol | None, input: object, environment: Jsonata.Frame | None
    ) -> object:
        self._bounds.enter()
        result = super()._eval(expr, input, environment)
        self._bounds.leave(result)
        return result

    def evaluate_variable(
        self, expr: Parser.Symbol, input: object, environment: Jsonata.Frame
    ) -> object:
        """Look up a variable; one that is absent ends the evaluation."""
        result = super().evaluate_variable(expr, input, environment)
        if result is not ABSENT:
            return result
        message = f"uses ${expr.value}, which there is only inside a loop"
        self.absent(message, f"Move the node into a loop, or remove ${expr.value}.")
        return None

    def evaluate_function(
        self,
        expr: Parser.Symbol,
        input: object,
        environment: Jsonata.Frame,
        applyto_context: object,
    ) -> object:
        """Call a function; `$default` and `$exists` may look at what is absent."""
        arguments = expr.arguments or []
        name = forgiving(expr, applied=applyto_context is not Utils.NONE)
        if name is None or environment.lookup(name) is not self._own[name]:
            return super().evaluate_function(expr, input, environment, applyto_context)
        self._forgiving += 1
        found = self.eval(arguments[0], input, environment)
        self._forgiving -= 1
        if name == "exists":
            return found is not None
        return found if found is not None else self.eval(arguments[1], input, environment)

    def apply_inner(
        self, proc: object, args: object, input: object, environment: Jsonata.Frame | None
    ) -> object:
        """Apply a function; the library's own are watched unless they call back."""
        if not self.is_function_like(proc):
            raise JException("T1006")
        given = args if isinstance(args, list) else []
        if not isinstance(proc, Jsonata.JFunction) or any(map(self.is_function_like, given)):
            return super().apply_inner(proc, args, input, environment)
        if proc.function_name in _WALK:
            self._bounds.weigh(given)
        with self._bounds.watching():
            return super().apply_inner(proc, args, input, environment)

    def evaluate_numeric_expression(self, lhs: object, rhs: object, op: str) -> object:
        """Calculate; a division by zero is an error, a remainder keeps its fraction."""
        if op in "/%" and Utils.is_numeric(lhs) and Utils.is_numeric(rhs):
            if rhs == 0:
                raise Halt(
                    "divides by zero", remedy="Check the divisor first: $d = 0 ? 0 : $n / $d"
                )
            if op == "%" and isinstance(lhs, int | float) and isinstance(rhs, int | float):
                return Utils.convert_number(math.fmod(lhs, rhs))
        return super().evaluate_numeric_expression(lhs, rhs, op)

    def evaluate_equality_expression(self, lhs: object, rhs: object, op: str) -> object:
        """Compare, watched: shared parts may take for ever."""
        with self._bounds.watching():
            return super().evaluate_equality_expression(lhs, rhs, op)

    def evaluate_includes_expression(self, lhs: object, rhs: object) -> object:
        """Look for a value in a list; true is not 1."""
        if lhs is None or rhs is None:
            return False
        with self._bounds.watching():
            items = rhs if isinstance(rhs, list) else [rhs]
            return any(Utils.is_deep_equal(item, lhs) for item in items)

    def evaluate_string_concat(self, lhs: object, rhs: object) -> str:
        """Join two values as text, unless writing them out would never end."""
        self._bounds.weigh([lhs, rhs])
        return super().evaluate_string_concat(lhs, rhs)

    def evaluate_range_expression(self, lhs: object, rhs: object) -> object:
        """Return the integers of a range, unless they are too many."""
        if isinstance(lhs, int) and isinstance(rhs, int) and rhs - lhs >= ENTRIES:
            raise too_large()
        return super().evaluate_range_expression(lhs, rhs)

    def evaluate_wildcard(self, expr: Parser.Symbol, input: object) -> object:
        """Return all fields, watched."""
        with self._bounds.watching():
            return super().evaluate_wildcard(expr, input)

    def evaluate_descendants(self, expr: Parser.Symbol, input: object) -> object:
        """Return all descendants, watched."""
        with self._bounds.watching():
            return super().evaluate_descendants(expr, input)

    def reduce_tuple_stream(self, tuple_stream: object) -> object:
        """Join the bindings of a group, watched."""
        with self._bounds.watching():
            return super().reduce_tuple_stream(tuple_stream)


def forgiving(expr: Parser.Symbol, *, applied: bool = False) -> str | None:
    """Return the function's name if `expr` calls one whose first argument may be absent."""
    procedure = expr.procedure
    if applied or procedure is None or procedure.type != "variable":
        return None
    name = str(procedure.value)
    return name if FORGIVING.get(name) == len(expr.arguments or []) else None


def _default(value: object, otherwise: object) -> object:
    return value if value is not None else otherwise
