"""Expressions: evaluated by jsonata-python with the variables of the execution bound."""

from __future__ import annotations

from typing import Any

from moto.stepfunctions.parser.asl.component.common.assign.assign_decl import AssignDecl
from moto.stepfunctions.parser.asl.component.common.string.string_expression import (
    StringJSONata,
    StringVariableSample,
)
from moto.stepfunctions.parser.asl.eval.environment import Environment

from localcloud.patching import Mended
from localcloud.stepfunctions.environment import of
from localcloud.stepfunctions.failures import evaluation_failed
from localcloud.stepfunctions.jsonata import (
    STATES,
    EvaluationFailed,
    Expression,
    built_in,
    compiled,
    evaluate,
)

MENDED = Mended()


@MENDED.of(StringJSONata, "_eval_body")
def evaluate_expression(self: StringJSONata, env: Environment) -> None:
    """AWS evaluates `{% %}` with its variables as values; undefined is an error.

    moto pastes values into the expression's text, so a quote in a value ends it, and has no engine.
    """
    env.stack.append(_result(env, self.expression))


@MENDED.of(StringVariableSample, "_eval_body")
def evaluate_variable(self: StringVariableSample, env: Environment) -> None:
    """AWS reads a variable, or a path into it, as a value."""
    env.stack.append(_result(env, self.expression))


@MENDED.of(AssignDecl, "_eval_body")
def assign_later(self: AssignDecl, env: Environment) -> None:
    """AWS evaluates Assign and Output side by side: Output reads the values of before.

    moto assigns at once. Here the state commits what it assigns when it is left.
    """
    frame = of(env)
    for binding in self.declaration_bindings:
        binding.eval(env=env)
        frame.assigned.update(env.stack.pop())


def _result(env: Environment, source: str) -> Any:
    try:
        expression = compiled(source)
        return evaluate(expression, _bindings(env, expression))
    except EvaluationFailed as error:
        cause = f"The JSONata expression '{source}' {_said(env, error)}"
        raise evaluation_failed(env, env.next_field_name or "", cause) from error


def _said(env: Environment, error: EvaluationFailed) -> str:
    return f"specified for the field '{env.next_field_name}' could not be evaluated: {error}"


def _bindings(env: Environment, expression: Expression) -> dict[str, object]:
    variables = of(env).variables
    bound: dict[str, object] = {}
    for name in expression.reads:
        if name == STATES:
            bound[name] = env.states._states_data
        elif variables.has(name):
            bound[name] = variables.value(name)
        elif not built_in(name):
            raise EvaluationFailed(f"the variable '{name}' was never assigned")
    return bound
