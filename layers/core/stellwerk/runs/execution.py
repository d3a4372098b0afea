"""One call of a step against the journal: what is recorded, may it act, what has come of it.

A step costs one batch read and two writes: it has begun, it has ended. A computation, which may run
again at will, only writes its end. All that touches a store happens here, one after the other, so
that a process may die at any of these calls.
"""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from datetime import datetime, timedelta
from functools import cached_property

from stellwerk.catalogue.model import NodeType
from stellwerk.kernel.errors import (
    Conflict,
    DeadlineExceeded,
    EffectUncertain,
    InvalidResult,
    RunCancelled,
    StillRunning,
    TransientError,
)
from stellwerk.kernel.json import JsonObject, JsonValue
from stellwerk.kernel.records import Stored
from stellwerk.runs.blueprints import Blueprint
from stellwerk.runs.calls import Call
from stellwerk.runs.failures import error_of, failure_of, last_failure
from stellwerk.runs.gates import Gates, Level
from stellwerk.runs.inputs import Given, Plan
from stellwerk.runs.leases import Admission, admit, ended, in_flight
from stellwerk.runs.model import Attempt, Failure, Step, StepKey, StepStatus
from stellwerk.runs.redaction import preview, redact, secrets_in
from stellwerk.runs.world import World
from stellwerk.tenancy.scope import Scope
from stellwerk.workflows.graph import OUT_PORT

LONGEST_PAUSE = 300.0
"""Seconds for which a service's wish to be left alone is honoured."""
_WRITE_TRIES = 5


@dataclass(frozen=True)
class Site:
    """Where a step runs: the world, whose scope, which version, which call."""

    world: World
    scope: Scope
    blueprint: Blueprint
    call: Call
    declaration: NodeType

    @cached_property
    def plan(self) -> Plan:
        """What the step needs to read."""
        return Plan(self.blueprint, self.call, self.declaration, self.world.catalogue)

    @property
    def now(self) -> datetime:
        """The present moment."""
        return self.world.clock.now()

    @property
    def ports(self) -> tuple[str, ...]:
        """The ports that the node can fire; where there is none, `out` leads nowhere."""
        return self.declaration.ports_for(self.plan.node.parameters) or (OUT_PORT,)

    @property
    def attempts(self) -> int:
        """How often the node is tried in all."""
        retry = self.plan.node.retry
        return retry.attempts if retry else self.declaration.attempts

    def blank(self) -> Step:
        """Return the step's entry before anything is known of it."""
        node = self.plan.node
        key = self.call.key
        return Step(
            run=self.call.run.id,
            path=key.path,
            node=key.node,
            type=node.type,
            status=StepStatus.RUNNING,
            execution=self.call.run.execution,
        )

    def repeatable(self, parameters: JsonObject) -> bool:
        """Whether the step may run twice: by its type, or by these parameters."""
        return self.declaration.repeatable_with(parameters)


class Execution:
    """A call of a step, from its arrival to its reply."""

    def __init__(self, site: Site, gates: Gates, *, also: Sequence[StepKey] = ()) -> None:
        self.site = site
        self._gates = gates
        self._arrived = site.now
        keys = list(dict.fromkeys((*site.plan.keys(), *also)))
        entries = site.world.journal.read(site.scope, site.call.run.id, keys)
        self.given = Given(site.world, site.scope, site.plan, entries)
        self.step = entries.get(site.call.key) or site.blank()
        self._secrets: tuple[str, ...] = ()

    def settled(self) -> JsonObject | None:
        """Return the reply of a step that is over, None if it is not; raise what it failed with."""
        return self._told(admit(self.step, self.site.now))

    def admitted(self) -> JsonObject | None:
        """Return the reply of a step that is over, None if this call may act now.

        Raises StillRunning while another call is at work, and EffectUncertain where a write was in
        flight when its process died.
        """
        admission = admit(self.step, self.site.now)
        if admission is Admission.BUSY:
            raise self.busy(self.step.lease)
        if admission is Admission.LATER:
            raise self.busy(self.step.due)
        if admission is Admission.LOST:
            self._take_over()
            return None
        return self._told(admission)

    def _told(self, admission: Admission) -> JsonObject | None:
        if admission is Admission.DONE:
            self._check_gates()
            return self._reply()
        if admission is Admission.FAILED:
            self._check_gates()
            raise error_of(last_failure(self.step))
        if admission is Admission.UNCERTAIN:
            raise error_of(last_failure(self.step))
        if admission is Admission.OVER:
            raise RunCancelled(
                f"Node {self.step.node} is {self.step.status}: its run, or its branch, has ended."
            )
        return None

    def begin(
        self,
        parameters: JsonObject,
        *,
        seconds: float | None = None,
        status: StepStatus = StepStatus.RUNNING,
        due: datetime | None = None,
        size: int | None = None,
    ) -> None:
        """Write that an attempt has begun, under a lease of `seconds`, with its input."""
        now = self.site.now
        lease = None if seconds is None else now + timedelta(seconds=seconds)
        more = {"status": status, "lease": lease, "due": due, "size": size}
        step = self._begun(parameters, now).model_copy(update=more)
        try:
            self.step = self.site.world.journal.write(self.site.scope, step)
        except Conflict as conflict:
            raise self.busy(None) from conflict

    def enter(self, parameters: JsonObject, *, dry: bool = False) -> None:
        """Begin an attempt that may be repeated at will: only its end, with its input, is written.

        Of two calls at the same time the first end counts. `dry` marks one that does not act.
        """
        begun = self._begun(parameters, self.site.now)
        self.step = begun.model_copy(update={"dry": dry})

    def _begun(self, parameters: JsonObject, now: datetime) -> Step:
        return self.step.model_copy(
            update={
                "type": self.site.plan.node.type,
                "status": StepStatus.RUNNING,
                "input": self._snapshot(parameters),
                "attempts": (*self.step.attempts, Attempt(started=now)),
                "due": None,
                "execution": self.site.call.run.execution,
            }
        )

    def finish(self, port: str, value: JsonValue) -> JsonObject:
        """Write that the step has fired `port` with `value`, and return the reply."""
        try:
            stored = self.site.world.values.keep(self.site.scope, self.step.run, value)
        except (ValueError, RecursionError) as error:
            wrong = InvalidResult(
                f"Node {self.step.node} made a value that is not JSON: {error}",
                remedy="Every number must be finite, and lists must not nest without end.",
            )
            raise self.fail(wrong, parameters={}) from error
        return self.fire(port, stored)

    def fire(self, port: str, value: Stored | None) -> JsonObject:
        """Write that the step has fired `port` with a value that is kept already."""
        now = self.site.now
        attempts = self.step.attempts or (Attempt(started=self._arrived),)
        update = {
            "status": StepStatus.SUCCEEDED,
            "port": port,
            "value": value,
            "attempts": ended(attempts, now),
            "lease": None,
            "execution": self.site.call.run.execution,
        }
        self._end(self.step.model_copy(update=update))
        self._check_gates()
        return self._reply()

    def fail(self, error: Exception, *, parameters: JsonObject) -> Exception:
        """Write that the attempt has failed; return the error that the caller raises."""
        if isinstance(error, DeadlineExceeded) and not self.site.repeatable(parameters):
            error = _uncertain(self.step, str(error))
        failure = failure_of(error, self.step.key)
        attempts = self.step.attempts
        if not in_flight(self.step):
            attempts = (*attempts, Attempt(started=self._arrived))
        again = failure.type in self.site.declaration.retry and len(attempts) < self.site.attempts
        update = {
            "status": _status_after(failure, again=again),
            "attempts": ended(attempts, self.site.now, failure),
            "lease": None,
            "due": self._not_before(error) if again else self.step.due,
            "execution": self.site.call.run.execution,
        }
        self._end(self.step.model_copy(update=update))
        if not again:
            self._check_gates()
        return error

    def _snapshot(self, parameters: JsonObject) -> Stored:
        schema = self.site.declaration.parameters
        shown = redact(parameters, schema)
        self._secrets = secrets_in(parameters, shown)
        return self.site.world.values.keep(self.site.scope, self.step.run, shown)

    def parameters_of_record(self) -> JsonObject:
        """Return the input that the journal holds: resolved, secrets hidden."""
        if self.step.input is None:
            return {}
        value = self.site.world.values.load(self.site.scope, self.step.input)
        return value if isinstance(value, dict) else {}

    def _take_over(self) -> None:
        """Go on where a process died: note its end, and stop here if it may have had an effect."""
        lost = Failure(
            type="Interrupted",
            message="The process ended in the middle of this attempt.",
            node=self.step.node,
            path=self.step.path,
        )
        repeatable = self.site.repeatable(self.parameters_of_record())
        if repeatable:
            attempts = ended(self.step.attempts, self.site.now, lost)
            self.step = self.step.model_copy(update={"attempts": attempts})
            return
        error = _uncertain(self.step, lost.message)
        failure = failure_of(error, self.step.key)
        update = {
            "status": StepStatus.UNCERTAIN,
            "attempts": ended(self.step.attempts, self.site.now, failure),
            "lease": None,
        }
        try:
            self.step = self.site.world.journal.write(
                self.site.scope, self.step.model_copy(update=update)
            )
        except Conflict as conflict:  # it ended after all, or another call was faster
            raise self.busy(None) from conflict
        raise error

    def _end(self, step: Step) -> None:
        """Write an end; if the entry has changed meanwhile, keep the fact and obey the entry."""
        journal, scope = self.site.world.journal, self.site.scope
        mine = step.attempts[-1]
        for _ in range(_WRITE_TRIES):
            try:
                self.step = journal.write(scope, step)
            except Conflict:
                stored = journal.read(scope, step.run, [step.key])[step.key]
                if not _still_open(stored, mine):
                    self._keep_fact(stored, step)
                    raise self._overtaken(stored) from None
                attempts = (*stored.attempts[:-1], mine)
                step = step.model_copy(update={"revision": stored.revision, "attempts": attempts})
            else:
                return
        raise self.busy(None)

    def _keep_fact(self, stored: Step, late: Step) -> None:
        """Note how an attempt ended that nobody waits for any more; its state stays as it is."""
        mine = late.attempts[-1]
        if all(attempt.started != mine.started for attempt in stored.attempts):
            return
        attempts = tuple(
            _merged(attempt, mine) if attempt.started == mine.started else attempt
            for attempt in stored.attempts
        )
        value = stored.value if stored.done else late.value
        fact = stored.model_copy(update={"attempts": attempts, "value": value})
        with suppress(Conflict):  # somebody is at work on the entry, which matters more
            self.site.world.journal.write(self.site.scope, fact)

    def _overtaken(self, stored: Step) -> Exception:
        admission = admit(stored, self.site.now)
        if admission is Admission.OVER:
            return RunCancelled(f"Node {stored.node} is {stored.status}: it ended too late.")
        if admission in {Admission.FAILED, Admission.UNCERTAIN}:
            return error_of(last_failure(stored))
        return self.busy(stored.lease)

    def busy(self, until: datetime | None) -> StillRunning:
        """Return the error that lets Step Functions call again later."""
        seconds = (until - self.site.now).total_seconds() if until else 1.0
        return StillRunning(
            f"Another call of node {self.step.node} is at work.", retry_after=max(seconds, 1.0)
        )

    def _not_before(self, error: Exception) -> datetime | None:
        pause = error.retry_after if isinstance(error, TransientError) else None
        return self.site.now + timedelta(seconds=min(pause, LONGEST_PAUSE)) if pause else None

    def _check_gates(self) -> None:
        """Answer the gates that this step has decided, if it was the last to do so."""
        call = self.site.call
        if call.node in self.site.blueprint.watch:
            level = Level(call.run.id, call.run.trigger, self.site.blueprint, call.path)
            self._gates.check(self.site.scope, level, call.node)

    def _reply(self) -> JsonObject:
        reply: JsonObject = {"port": self.step.port, "step": self.site.call.address}
        reply["preview"] = self._preview()
        return reply

    def _preview(self) -> str:
        value = self.step.value
        if value is None or value.text is None:
            return f"{value.ref.size} bytes" if value and value.ref else ""
        return preview(value.text, self._secrets)


def _status_after(failure: Failure, *, again: bool) -> StepStatus:
    if failure.uncertain:
        return StepStatus.UNCERTAIN
    return StepStatus.RUNNING if again else StepStatus.FAILED


def _still_open(stored: Step, mine: Attempt) -> bool:
    """Whether the attempt that ends is the one that the entry says is at work."""
    waiting = stored.status in {StepStatus.RUNNING, StepStatus.WAITING} and not stored.done
    known = bool(stored.attempts) and stored.attempts[-1].started == mine.started
    return waiting and known and stored.attempts[-1].ended is None


def _merged(stored: Attempt, mine: Attempt) -> Attempt:
    """Return the stored attempt with its true end; what it was judged for remains."""
    return stored.model_copy(update={"ended": mine.ended, "error": stored.error or mine.error})


def _uncertain(step: Step, why: str) -> EffectUncertain:
    return EffectUncertain(
        f"Node {step.node} may have had its effect. {why}",
        remedy="Look at the service. Then replay the run: with 'assume done' and the value if it "
        "has happened, with 'repeat' if it has not.",
    )
