"""Choice states."""

from __future__ import annotations

from moto.stepfunctions.parser.asl.component.state.choice.comparison.comparison import (
    ConditionStringJSONata,
)
from moto.stepfunctions.parser.asl.component.state.choice.state_choice import StateChoice
from moto.stepfunctions.parser.asl.eval.environment import Environment

from localcloud.patching import Mended
from localcloud.stepfunctions.failures import NO_CHOICE, evaluation_failed, failure

MENDED = Mended()


@MENDED.of(StateChoice, "_eval_state")
def choose(self: StateChoice, env: Environment) -> None:
    """AWS takes the first rule that holds, else Default, else fails with States.NoChoiceMatched.

    moto fails with States.Runtime, and applies Default's Assign and Output to a rule that leads to
    the same state.
    """
    for rule in self.choices_decl.rules:
        rule.eval(env)
        if env.stack.pop() is True and rule.next_stmt is not None:
            env.stack.append(rule.next_stmt.name)
            return
    if self.default_state is None:
        raise failure(env, NO_CHOICE, f"No choice rule matched in the state '{self.name}'.")
    if self.assign_decl is not None:
        self.assign_decl.eval(env=env)
    if self.output is not None:
        self.output.eval(env=env)
    env.stack.append(self.default_state.state_name)


@MENDED.of(StateChoice, "_eval_state_output")
def follow(self: StateChoice, env: Environment) -> None:
    """AWS goes on at the chosen state; the rule has already said the output."""
    env.next_state_name = env.stack.pop()


@MENDED.of(ConditionStringJSONata, "_eval_body")
def hold(self: ConditionStringJSONata, env: Environment) -> None:
    """AWS fails with States.QueryEvaluationError if a Condition is not a boolean."""
    self.string_jsonata.eval(env=env)
    if not isinstance(env.stack[-1], bool):
        source = self.string_jsonata.expression
        raise evaluation_failed(
            env, "Condition", f"The expression '{source}' returned no boolean: {env.stack[-1]!r}"
        )
