"""Replaying a run: a new run whose journal begins with what is still true of the old one.

What is recorded does not run. A step that may have happened is not repeated unless a person says
so, and a person can say that it has happened, and with what value.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from stellwerk.catalogue.model import Kind
from stellwerk.kernel.errors import BadInput, Conflict
from stellwerk.kernel.ids import RunId, new_id
from stellwerk.runs.blueprints import Blueprint
from stellwerk.runs.effects import as_closed, may_have_happened, writes
from stellwerk.runs.keeping import Kept, copied, kept_entries, kept_nodes, opened_loops
from stellwerk.runs.launching import machine_of
from stellwerk.runs.model import Run, RunStatus, Step, StepKey, StepStatus, TriggeredBy
from stellwerk.runs.names import CHUNK_TYPE, GATE_TYPE, SCOPE_TYPE, origin_of
from stellwerk.runs.outcome import first_port
from stellwerk.runs.pinning import pinned_versions
from stellwerk.runs.starting import Starting
from stellwerk.runs.states import RunEvent, run_after
from stellwerk.runs.triggers import choose_trigger
from stellwerk.runs.wishes import Wish
from stellwerk.runs.world import World
from stellwerk.tenancy.scope import Scope
from stellwerk.workflows.model import Version

_FAILED = {StepStatus.FAILED, StepStatus.UNCERTAIN}
_PASSING = {GATE_TYPE, CHUNK_TYPE, SCOPE_TYPE}


class Replays:
    """Starts runs from the records of others."""

    def __init__(self, world: World, starting: Starting) -> None:
        self._world = world
        self._starting = starting

    def replay(
        self, scope: Scope, source: Run, wish: Wish, *, delivery: str | None = None, job: str = ""
    ) -> Run:
        """Start a run that replays `source`, which must be over; a known `delivery` has done so.

        Raises BadInput for nodes and steps that are not there, and for uncertain steps for which
        `wish` neither assumes that they are done nor repeats them.
        """
        run_after(source, RunEvent.REPLAY)
        if delivery is not None:
            known = self._world.runs.delivered(scope, source.workflow, delivery)
            if known is not None:
                return self._starting.launch(scope, known)
        target = self._blueprint(scope, source, wish.version)
        run = self._run(scope, source, target, delivery).model_copy(update={"job": job})
        entries = self._entries(scope, source, run, target, wish)
        return self._starting.launch(scope, self._starting.write(scope, run, entries))

    def doubted(self, scope: Scope, source: Run) -> list[Step]:
        """Return the source's steps as they are to be read: what may have happened is uncertain."""
        return self._steps(scope, source)

    def writes_again(self, scope: Scope, source: Run, wish: Wish) -> tuple[StepKey, ...]:
        """Return the steps that have written, or may have, and that the replay would do again.

        Raises BadInput as `replay` does.
        """
        target = self._blueprint(scope, source, wish.version)
        steps = self._steps(scope, source)
        found = self._found(scope, source, target, steps, wish)[1]
        again = (
            step.key
            for step in steps
            if step.key not in found and step.key.text not in wish.assume_done
            if step.type not in _PASSING and (step.done or step.key.text in wish.repeat)
            if writes(self._world, scope, step)
        )
        return tuple(sorted(again, key=lambda key: key.text))

    def _blueprint(self, scope: Scope, source: Run, version: int | None) -> Blueprint:
        number = version or source.version
        trial = source.trial if number == source.version else ""
        _check_startable(self._world.versions.get(scope, source.workflow, number, trial))
        return self._world.blueprints.of(scope, source.workflow, number, trial)

    def _run(self, scope: Scope, source: Run, target: Blueprint, delivery: str | None) -> Run:
        trigger = choose_trigger(self._world.catalogue, target.graph, source.trigger.node)
        now = self._world.clock.now()
        run_id = RunId(new_id(now))
        pins = pinned_versions(self._world, scope, target.graph)
        return Run(
            id=run_id,
            mandate=scope.mandate,
            instance=scope.instance,
            user=scope.user,
            workflow=source.workflow,
            version=target.version.number,
            title=source.title,
            status=RunStatus.RUNNING,
            trigger=TriggeredBy(node=trigger.key, delivery=delivery or run_id, kind=trigger.type),
            started=now,
            mode=source.mode,
            trial=target.version.trial,
            input=source.input,
            origin=origin_of(source),
            vars=source.vars,
            pinned_versions={**pins, **source.pinned_versions},
        )

    def _entries(
        self, scope: Scope, source: Run, run: Run, target: Blueprint, wish: Wish
    ) -> list[Step]:
        steps = self._steps(scope, source)
        kept, found = self._found(scope, source, target, steps, wish)
        recorded = [_recorded(step, found) for step in found.values()]
        recorded += [_begun(step) for step in opened_loops(kept, steps)]
        recorded += self._assumed(scope, run, target, steps, wish)
        known = {step.key for step in recorded}
        others = [step for step in steps if step.key not in known and step.type not in _PASSING]
        recorded += self._carried(scope, kept, others, wish)
        return [copied(step, source, run) for step in recorded]

    def _steps(self, scope: Scope, source: Run) -> list[Step]:
        """Return the entries as they are to be read: what may have happened is uncertain."""
        return [
            step if step.type == SCOPE_TYPE else self._doubted(scope, step)
            for step in self._world.journal.steps(scope, source.id)
        ]

    def _doubted(self, scope: Scope, step: Step) -> Step:
        closed = as_closed(self._world, scope, step)
        if not may_have_happened(self._world, scope, closed):
            return closed
        return closed.model_copy(update={"status": StepStatus.UNCERTAIN})

    def _found(
        self, scope: Scope, source: Run, target: Blueprint, steps: Sequence[Step], wish: Wish
    ) -> tuple[Kept, Mapping[StepKey, Step]]:
        """Return the nodes whose records are kept, and these records; raise what is wrong."""
        _check_wish(wish, steps, target)
        before = self._world.graph(scope, source)
        kept = kept_nodes(before, target.graph, wish.from_node)
        counted = frozenset(
            node.key for node in target.graph.nodes if self._kind(node.type) is Kind.WHILE
        )
        found = kept_entries(kept, target.graph, steps, counted)
        _check_repeats(wish, found)
        return kept, found

    def _assumed(
        self, scope: Scope, run: Run, target: Blueprint, steps: Sequence[Step], wish: Wish
    ) -> Iterator[Step]:
        for step in steps:
            if step.key.text in wish.assume_done:
                value = self._world.values.keep(scope, run.id, wish.assume_done[step.key.text])
                done = {
                    "status": StepStatus.SUCCEEDED,
                    "port": first_port(target.graph, self._world.catalogue, step.node),
                    "value": value,
                }
                yield step.model_copy(update=done)

    def _carried(
        self, scope: Scope, kept: Kept, steps: Sequence[Step], wish: Wish
    ) -> Iterator[Step]:
        """Yield what steps that run again take along: generation, and until when a wait waits."""
        for step in steps:
            again = step.done and writes(self._world, scope, step)
            repeated = again or step.key.text in wish.repeat
            generation = step.generation + 1 if repeated else step.generation
            due = step.due if step.node in kept.whole and self._still_due(step) else None
            if generation > 1 or due is not None:
                yield _begun(step).model_copy(update={"generation": generation, "due": due})

    def _still_due(self, step: Step) -> bool:
        """A date is kept as it was; a person's time only where some of it is left."""
        kind = self._kind(step.type)
        ahead = step.due is not None and step.due > self._world.clock.now()
        return kind is Kind.DELAY or (kind is Kind.WAIT and ahead)

    def _kind(self, name: str) -> Kind | None:
        declared = self._world.catalogue.find(name)
        return declared.kind if declared is not None else None


def _check_wish(wish: Wish, steps: Sequence[Step], target: Blueprint) -> None:
    if wish.from_node is not None and wish.from_node not in target.graph.by_key:
        raise BadInput(
            f"There is no node '{wish.from_node}' to replay from. Nodes are: "
            f"{', '.join(sorted(target.graph.by_key))}.",
            remedy="Name one of them.",
        )
    failed = {step.key.text: step for step in steps if step.status in _FAILED and not step.done}
    ran = {step.key.text for step in steps if step.type not in _PASSING}
    _check_known("assumed to be done", set(wish.assume_done), set(failed))
    _check_known("repeated", set(wish.repeat), ran)
    _check_uncertain(wish, failed, target)


def _check_known(verb: str, named: set[str], choices: set[str]) -> None:
    if unknown := sorted(named - choices):
        raise BadInput(
            f"These steps cannot be {verb}: {', '.join(unknown)}. Those that can are: "
            f"{', '.join(sorted(choices)) or 'none'}.",
            remedy="Name steps as the run's table shows them.",
        )


def _check_uncertain(wish: Wish, failed: Mapping[str, Step], target: Blueprint) -> None:
    answered = set(wish.assume_done) | set(wish.repeat)
    unanswered = sorted(
        text
        for text, step in failed.items()
        if step.status is StepStatus.UNCERTAIN and step.node in target.graph.by_key
        if text not in answered
    )
    if unanswered:
        raise BadInput(
            f"These steps may have happened: {', '.join(unanswered)}.",
            remedy="Look at the service. Then replay with 'assume_done' and the value for each "
            "that has happened, and with 'repeat' for each that has not.",
        )


def _check_startable(version: Version) -> None:
    if version.trial:
        machine_of(version)
    elif version.retiring is not None:
        raise Conflict(
            f"Version {version.number} is no longer published: nothing new starts on it.",
            remedy="Replay the run on the published version, or publish this one again.",
        )


def _check_repeats(wish: Wish, found: Mapping[StepKey, Step]) -> None:
    recorded = {key.text for key in found}
    if pointless := sorted(wish.repeat & recorded):
        raise BadInput(
            f"These steps are recorded and do not run again: {', '.join(pointless)}.",
            remedy="Replay from the node that shall run again, with 'from_node'.",
        )


def _recorded(step: Step, found: Mapping[StepKey, Step]) -> Step:
    """Return a kept entry; an item that failed is whole again if its loop is entered again."""
    if step.type != SCOPE_TYPE or step.status is not StepStatus.FAILED:
        return step
    outer, _, _ = step.path.rpartition(".")
    if StepKey(path=type(step.path)(outer), node=step.node) in found:
        return step
    return step.model_copy(update={"status": StepStatus.RUNNING, "attempts": ()})


def _begun(step: Step) -> Step:
    """Return the entry of a step that has not been tried yet."""
    cleared = {
        "status": StepStatus.RUNNING,
        "port": None,
        "value": None,
        "attempts": (),
        "due": None,
    }
    return step.model_copy(update=cleared)
