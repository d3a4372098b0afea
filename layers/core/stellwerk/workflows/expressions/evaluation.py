"""The value of an expression, or an error that names node and parameter."""

from __future__ import annotations

import re

from jsonata.jexception import JException

from stellwerk.kernel.errors import ExpressionFailed, PermanentError, ReferenceNotAvailable
from stellwerk.kernel.ids import NodeKey
from stellwerk.kernel.json import JsonValue
from stellwerk.workflows.expressions.bounds import SECONDS, Bounds, Halt, too_deep
from stellwerk.workflows.expressions.braces import Malformed
from stellwerk.workflows.expressions.engine import Engine
from stellwerk.workflows.expressions.names import ABSENT, Known, Names
from stellwerk.workflows.expressions.plain import marked, plain
from stellwerk.workflows.expressions.references import Uses, uses
from stellwerk.workflows.expressions.syntax import parse

_PATH = re.compile(r"\$(nodes|input|trigger|run|vars|item|index)((?:\.[A-Za-z_][A-Za-z0-9_]*)*)")
_LITERALS = {"true", "false", "null"}
_LIBRARY_ERRORS = (
    ArithmeticError,
    AttributeError,
    LookupError,
    MemoryError,
    RuntimeError,
    TypeError,
    ValueError,
)
_WRONG_TYPE = {"T0410", "T0411", "T0412"}
_OWN_WORDS = {"D3137", "D3141"}
"""Errors that the author raises: `$error(text)`, `$assert(condition, text)`."""
_NO_NUMBER = re.compile(r"could not convert string to float: (.*)", re.DOTALL)


class _Ran(dict[str, object]):
    """What `$nodes` stands for: looking up a node that did not run is not looking up nothing."""

    def __init__(self, values: dict[str, object], engine: Engine) -> None:
        super().__init__(values)
        self._engine = engine

    def get(self, key: str, default: object = None) -> object:
        """Return the node's value; if it did not run, let the engine decide."""
        if key in self:
            return self[key]
        remedy = f"Say what holds instead: $default($nodes.{key}, value), or ask $exists first."
        self._engine.absent(f"uses $nodes.{key}, but node {key} did not run", remedy)
        return default


def evaluate(
    source: str, names: Names, *, node: str = "", parameter: str = "", seconds: float = SECONDS
) -> JsonValue:
    """Return the value of the JSONata `source`, without braces.

    Raises ReferenceNotAvailable for the value of a node that did not run, ExpressionFailed for all
    else: it cannot be read, fails, gives nothing, or exceeds its time, depth or size.
    """
    direct = _direct(source, names)
    if direct is not ABSENT:
        return direct
    try:
        return _evaluated(source, names, seconds)
    except Malformed as error:
        raise failure(error.message, error.remedy, node=node, parameter=parameter) from None
    except Halt as halt:
        kind = ReferenceNotAvailable if halt.absent else ExpressionFailed
        raise failure(
            halt.message, halt.remedy, node=node, parameter=parameter, kind=kind
        ) from None


def failure(
    message: str,
    remedy: str,
    *,
    node: str,
    parameter: str,
    kind: type[PermanentError] = ExpressionFailed,
) -> PermanentError:
    """Return the error that says where an expression failed."""
    place = f"Node {node}, " if node else ""
    where = f"parameter {parameter}" if parameter else "an expression"
    text = f"{place}{where}: the expression {message}."
    return kind(text[:1].upper() + text[1:], remedy=remedy)


def _direct(source: str, names: Names) -> Known:
    """Return what a plain path names, without the engine; ABSENT if only the engine can tell."""
    match = _PATH.fullmatch(source)
    if match is None:
        return ABSENT
    name, steps = match.group(1), match.group(2).split(".")[1:]
    if name == "nodes":
        value = names.nodes.get(NodeKey(steps.pop(0)), ABSENT) if steps else ABSENT
    else:
        value = names.of(name)
    for step in steps:
        if not isinstance(value, dict) or step not in value or step in _LITERALS:
            return ABSENT
        value = value[step]
    return value


def _evaluated(source: str, names: Names, seconds: float) -> JsonValue:
    tree, used = parse(source), uses(source)
    with Bounds(seconds=seconds) as bounds:
        engine = Engine(bounds)
        try:
            result = engine.run(tree, _bindings(used, names, engine))
            if result is not None:
                return plain(result, bounds)
        except JException as error:
            raise Halt(_explained(error, source)) from error
        except RecursionError as error:
            raise too_deep() from error
        except TimeoutError as error:
            raise bounds.too_slow() from error
        except _LIBRARY_ERRORS as error:
            raise Halt(_reason(error), remedy="Check the values it uses.") from error
    raise Halt(
        "gives nothing: a field that it names is not there",
        remedy=f"Say what holds then: $default({source[:60]}, null)",
    )


def _bindings(used: Uses, names: Names, engine: Engine) -> dict[str, object]:
    """Return the values of the names that are used, nulls marked."""
    variables = {reference.name for reference in used.references} - {"nodes"}
    values: dict[str, object] = {name: _engine_value(names.of(name)) for name in variables}
    nodes = {
        reference.node: names.nodes.get(reference.node, ABSENT)
        for reference in used.references
        if reference.node
    }
    ran = {str(key): marked(value) for key, value in nodes.items() if value is not ABSENT}
    values["nodes"] = _Ran(ran, engine)
    return values


def _engine_value(value: Known) -> object:
    return value if value is ABSENT else marked(value)


def _explained(error: JException, source: str) -> str:
    """Return what the library says, in words for people who do not know it."""
    place = source[max(0, error.location - 20) : error.location + 10]
    near = f" (near {place!r})" if error.location > 0 and place else ""
    if error.error in _WRONG_TYPE:
        return f"calls a function with a value of a type that it does not take{near}"
    text = str(error)
    if error.error in _OWN_WORDS:
        return f"fails: {text}"
    return f"fails: {text[:1].lower()}{text[1:]}{near}"


def _reason(error: Exception) -> str:
    """Return what went wrong inside the library, in words for people who do not know it."""
    reason = str(error.args[-1]) if error.args else type(error).__name__
    number = _NO_NUMBER.fullmatch(reason)
    return f"takes {number[1]} for a number" if number else f"cannot be evaluated: {reason}"
