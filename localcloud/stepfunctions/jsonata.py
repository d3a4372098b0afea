"""JSONata as Step Functions evaluates it: variables bound as values, never pasted as text."""

from __future__ import annotations

import re
import threading
from collections.abc import Mapping
from dataclasses import dataclass

from jsonata import JException, Jsonata
from jsonata.utils import Utils
from moto.stepfunctions.parser.asl.component.intrinsic.jsonata import (
    get_intrinsic_functions_declarations,
)
from moto.stepfunctions.parser.asl.jsonata.jsonata import (
    IllegalJSONataVariableReference,
    extract_jsonata_variable_references,
)

from localcloud.stepfunctions.json_values import copied

STATES = "states"
"""The reserved variable: no assignment hides it."""
_COMPILED = 4096
"""How many expressions a thread keeps."""
_OWN = re.compile(r"\$([A-Za-z_][A-Za-z0-9_]*)\s*:=|function\s*\(([^)]*)\)|λ\s*\(([^)]*)\)")
_PATH = re.compile(r"\s*\$[A-Za-z_]\w*(\.[A-Za-z_]\w*)*\s*")
_BUILT_IN = frozenset(Jsonata.static_frame.bindings) if Jsonata.static_frame else frozenset()


class EvaluationFailed(Exception):
    """The expression cannot be parsed, raised an error, or has no result."""


@dataclass(frozen=True)
class Expression:
    """A compiled expression and the variables that it reads from outside."""

    source: str
    program: Jsonata
    reads: frozenset[str]
    path: tuple[str, ...]
    """Variable and fields, if the expression is nothing but `$variable.field.field`."""


_thread = threading.local()


def compiled(source: str) -> Expression:
    """Return `source` compiled for this thread: a Jsonata object serves one thread at a time."""
    cache: dict[str, Expression] | None = getattr(_thread, "cache", None)
    if cache is None:
        cache = _thread.cache = {}
    expression = cache.get(source)
    if expression is None:
        if len(cache) >= _COMPILED:
            cache.clear()
        expression = cache[source] = _compile(source)
    return expression


def checked(source: str) -> frozenset[str]:
    """Return the variables that `source` reads. Raises EvaluationFailed if it cannot be parsed."""
    return compiled(source).reads


def _compile(source: str) -> Expression:
    references = _references(source)
    helpers = get_intrinsic_functions_declarations({_root(name) for name in references})
    try:
        program = Jsonata(f"({helpers}{source})" if helpers else source)
    except JException as error:
        raise EvaluationFailed(str(error)) from error
    program.set_output_convert_nulls(False)
    program.set_validate_input(False)
    path = tuple(source.strip()[1:].split(".")) if _PATH.fullmatch(source) else ()
    return Expression(source, program, free_variables(source), path)


def free_variables(source: str) -> frozenset[str]:
    """Return the names that `source` reads and neither binds itself nor has built in."""
    references = _references(source)
    names = {_root(name)[1:] for name in references}
    for assigned, parameters, lambda_parameters in _OWN.findall(source):
        names.discard(assigned)
        for parameter in (parameters or lambda_parameters).split(","):
            names.discard(parameter.strip().removeprefix("$"))
    return frozenset(names - {""})


def _references(source: str) -> set[str]:
    try:
        return extract_jsonata_variable_references(source)
    except IllegalJSONataVariableReference as error:
        raise EvaluationFailed(f"'{error.variable_reference}' cannot be used here") from error


def _root(reference: str) -> str:
    return reference.partition(".")[0]


def built_in(name: str) -> bool:
    """Whether JSONata or Step Functions defines `$name`."""
    return name in _BUILT_IN or bool(get_intrinsic_functions_declarations({"$" + name}))


def evaluate(expression: Expression, bindings: Mapping[str, object]) -> object:
    """Return the expression's result as plain JSON. Raises EvaluationFailed.

    A result that is undefined, or a function, is an error: a field cannot hold it.
    """
    found = _followed(expression.path, bindings)
    if found is not None:
        return copied(found)
    values = {name: _with_nulls(value) for name, value in bindings.items()}
    try:
        result = expression.program.evaluate(None, values)
    except (JException, RecursionError, TypeError, ValueError, ArithmeticError) as error:
        raise EvaluationFailed(str(error)) from error
    if result is None:
        raise EvaluationFailed("returned nothing (undefined)")
    return _plain(result)


def _followed(path: tuple[str, ...], bindings: Mapping[str, object]) -> object:
    """Return what a plain path leads to through objects; None where JSONata has more to say."""
    found: object = bindings
    for name in path:
        if not isinstance(found, dict) or name not in found:
            return None
        found = found[name]
    return None if not path or isinstance(found, list) else found


def _with_nulls(value: object) -> object:
    """Say null where Python says None, which the engine takes for undefined."""
    if value is None:
        return Utils.NULL_VALUE
    if isinstance(value, str | int | float):
        return value
    if isinstance(value, dict):
        return {
            key: item if isinstance(item, str) else _with_nulls(item) for key, item in value.items()
        }
    if isinstance(value, list):
        return [_with_nulls(item) for item in value]
    return value


def _plain(value: object) -> object:
    if value is Utils.NULL_VALUE or value is None:
        return None
    if isinstance(value, dict):
        return {key: _plain(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(item) for item in value]
    if isinstance(value, bool | int | float | str):
        return value
    raise EvaluationFailed("returned an unsupported result type")
