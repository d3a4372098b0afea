"""Gates: a node that must not wait for a stranger in its branch waits here for the journal.

Registering writes first and reads the ancestors then; a finished step is written first and its
gates are read then. So whichever comes second sees the other, and at least one of them answers the
token.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from stellwerk.kernel.errors import Conflict, TransientError
from stellwerk.kernel.ids import NodeKey, Path, RunId
from stellwerk.runs.blueprints import Blueprint
from stellwerk.runs.contention import settle
from stellwerk.runs.liveness import Verdict, ancestors, decided
from stellwerk.runs.model import Step, StepKey, StepStatus
from stellwerk.runs.names import GATE_TYPE, gate_key
from stellwerk.runs.ports import Executions, Journal
from stellwerk.tenancy.scope import Scope


@dataclass(frozen=True)
class Level:
    """One level of a run's nodes: the top, or a pass of a loop. `trigger` is the run's own."""

    run: RunId
    trigger: NodeKey
    blueprint: Blueprint
    path: Path

    def key(self, node: NodeKey) -> StepKey:
        """Return where `node` is in the journal."""
        return StepKey(path=self.path, node=node)

    def verdict(self, entries: Mapping[StepKey, Step], node: NodeKey) -> Verdict | None:
        """Return whether `node` will run, given entries of the journal."""
        here = {key.node: step for key, step in entries.items() if key.path == self.path}
        graph, passes = self.blueprint.graph, self.blueprint.passes
        return decided(graph, here, node, trigger=self.trigger, passes=passes)


class Gates:
    """Registers gates and answers them once they are decided."""

    def __init__(self, journal: Journal, executions: Executions) -> None:
        self._journal = journal
        self._executions = executions

    def register(self, scope: Scope, level: Level, node: NodeKey, token: str) -> None:
        """Let the gate of `node` wait under `token`; answer at once if it is decided."""
        settle(lambda: self._write(scope, level, node, token))
        self._answer(scope, level, (node,))

    def check(self, scope: Scope, level: Level, finished: NodeKey) -> None:
        """Answer the gates that `finished`, a node that has fired or failed, has decided."""
        self._answer(scope, level, level.blueprint.watch.get(finished, ()))

    def verdict(self, scope: Scope, level: Level, node: NodeKey) -> Verdict:
        """Return what the journal says of `node`; raise TransientError while it is not decided."""
        verdict = level.verdict(self._read(scope, level, (node,)), node)
        if verdict is None:
            raise TransientError(f"It is not decided yet whether node '{node}' will run.")
        return verdict

    def _read(self, scope: Scope, level: Level, nodes: Sequence[NodeKey]) -> dict[StepKey, Step]:
        graph = level.blueprint.graph
        before = {key for node in nodes for key in ancestors(graph, node)}
        keys = [level.key(key) for key in sorted(before)]
        gates = [gate_key(level.key(node)) for node in nodes]
        return self._journal.read(scope, level.run, [*keys, *gates])

    def _write(self, scope: Scope, level: Level, node: NodeKey, token: str) -> None:
        key = gate_key(level.key(node))
        stored = self._journal.read(scope, level.run, [key]).get(key)
        gate = stored or Step(
            run=level.run,
            path=key.path,
            node=key.node,
            type=GATE_TYPE,
            status=StepStatus.WAITING,
        )
        waiting = {"status": StepStatus.WAITING, "port": None, "token": token}
        self._journal.write(scope, gate.model_copy(update=waiting))

    def _answer(self, scope: Scope, level: Level, nodes: Sequence[NodeKey]) -> None:
        if not nodes:
            return
        entries = self._read(scope, level, nodes)
        for node in nodes:
            gate = entries.get(gate_key(level.key(node)))
            if gate is None or gate.status is not StepStatus.WAITING or gate.token is None:
                continue
            verdict = level.verdict(entries, node)
            if verdict is not None:
                self._wake(scope, gate, gate.token, verdict)

    def _wake(self, scope: Scope, gate: Step, token: str, verdict: Verdict) -> None:
        self._executions.succeed(scope, token, {"port": verdict.value})
        done = {"status": StepStatus.SUCCEEDED, "port": verdict.value}
        try:
            self._journal.write(scope, gate.model_copy(update=done))
        except Conflict:
            # someone else has answered too, or has registered a new token and checks it itself
            return
