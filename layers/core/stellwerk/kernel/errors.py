"""Errors carry who must act.

The class name is the retry contract, the message says what, the remedy how to mend it.
The class names travel through AWS Step Functions as `ErrorEquals`, which knows no inheritance;
`RETRYABLE` is therefore the complete list of names and not a base class.
"""

from __future__ import annotations


class StellwerkError(Exception):
    """Base of all errors that Stellwerk raises on purpose.

    `message` says what is wrong and where, `remedy` how to mend it.
    """

    def __init__(self, message: str, *, remedy: str = "") -> None:
        super().__init__(message)
        self.message = message
        self.remedy = remedy

    @property
    def type(self) -> str:
        """The name under which Step Functions and the journal know this error."""
        return type(self).__name__


class TransientError(StellwerkError):
    """Nothing happened and a later try may succeed."""

    def __init__(self, message: str, *, remedy: str = "", retry_after: float | None = None) -> None:
        super().__init__(message, remedy=remedy)
        self.retry_after = retry_after
        """Seconds that the service asked us to wait, if it did."""


class RateLimited(TransientError):
    """The service asked for fewer calls; nothing happened."""


class ServiceUnavailable(TransientError):
    """The service could not be reached or said that it is not available; nothing happened."""


class StillRunning(TransientError):
    """Another call of the same step holds its lease: a state's timeout does not stop a Lambda."""


class PermanentError(StellwerkError):
    """A try with the same input will fail again."""


class InvalidParameters(PermanentError):
    """The author of the workflow must change parameters."""


class InvalidResult(PermanentError):
    """A handler returned what its own result model refuses: its developer must act."""


class ReferenceNotAvailable(PermanentError):
    """An expression uses the value of a node that did not run."""


class ExpressionFailed(PermanentError):
    """An expression could not be evaluated: wrong, too slow or too deep."""


class ConnectionRejected(PermanentError):
    """The owner of a connection must sign in again or grant more."""


class NotFound(PermanentError):
    """The thing does not exist, or not for this scope."""


class Forbidden(PermanentError):
    """The scope's roles do not allow it."""

    recorded = False
    """Whether the audit has this refusal, so that whoever shows it does not write it again."""


class Unauthenticated(PermanentError):
    """Nobody knows who is calling: no token, one that does not hold, or of someone not let in."""


class Conflict(PermanentError):
    """The thing has changed meanwhile, or its state does not allow the transition."""


class DeadlineExceeded(PermanentError):
    """A step ran longer than its timeout allows; what it had begun may have happened."""


class EffectUncertain(PermanentError):
    """A write was in flight when its process ended: it may have happened. A person must look."""


class RunCancelled(PermanentError):
    """The run was cancelled while this step was at work."""


class StoppedWithError(PermanentError):
    """A `flow.stop` node ended the run as failed."""


class LoopLimitExceeded(PermanentError):
    """A loop has more items or passes than it allows."""


class BadInput(PermanentError):
    """What a person handed in cannot be read at all; `faults` may say more."""


RETRYABLE: tuple[str, ...] = ("TransientError", "RateLimited", "ServiceUnavailable", "StillRunning")
"""Names of the errors after which nothing has happened and a try may be repeated."""

STORE_ERRORS: tuple[str, ...] = ("RateLimited", "ServiceUnavailable", "StillRunning")
"""Those that a step may meet though it acts on nothing outside: a store does not answer."""
