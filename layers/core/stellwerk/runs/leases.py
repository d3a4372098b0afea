"""Whether a call of a step may act: decided from what the journal holds of it, and nothing else.

An attempt without an end is in flight until its lease is over; after that its process has died.
What that process had done to the world is unknown: only a step that reads, or is idempotent, runs
again.
"""

from __future__ import annotations

from datetime import datetime
from enum import StrEnum

from stellwerk.runs.model import Attempt, Failure, Step, StepStatus

_OVER = {StepStatus.CANCELLED, StepStatus.SKIPPED}


class Admission(StrEnum):
    """What a call finds."""

    RUN = "run"  # nothing in flight: it may act
    DONE = "done"  # the port was fired: report it
    FAILED = "failed"  # it failed for good: say so again
    BUSY = "busy"  # another call is at work
    LATER = "later"  # the service asked for a pause that is not over
    OVER = "over"  # the run or the scope has ended
    LOST = "lost"  # a process died in the middle of an attempt
    UNCERTAIN = "uncertain"  # a process died in the middle of a write: a person must look


def admit(step: Step | None, now: datetime) -> Admission:
    """Return what a call that arrives `now` may do, given the step's entry."""
    if step is None:
        return Admission.RUN
    if step.done:
        return Admission.DONE
    if step.status in _OVER:
        return Admission.OVER
    if step.status is StepStatus.FAILED:
        return Admission.FAILED
    if step.status is StepStatus.UNCERTAIN:
        return Admission.UNCERTAIN
    return _of_open(step, now)


def _of_open(step: Step, now: datetime) -> Admission:
    if in_flight(step):
        leased = step.lease is not None and step.lease > now
        return Admission.BUSY if leased else Admission.LOST
    return Admission.LATER if step.due is not None and step.due > now else Admission.RUN


def in_flight(step: Step) -> bool:
    """Whether the last attempt has no end."""
    return bool(step.attempts) and step.attempts[-1].ended is None


def ended(
    attempts: tuple[Attempt, ...], now: datetime, error: Failure | None = None
) -> tuple[Attempt, ...]:
    """Return the attempts with the last one ended `now`, and with its error."""
    if not attempts:
        return ()
    last = attempts[-1].model_copy(update={"ended": now, "error": error})
    return (*attempts[:-1], last)
