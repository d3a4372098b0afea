"""Numbers for CloudWatch, written to the log in its embedded metric format."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from importlib import import_module
from typing import Protocol, cast

from stellwerk.config import Settings
from stellwerk.watching.model import Happening, RunEvent

SERVICE = "runs"
"""The one dimension: by mandate or workflow each would be a metric to pay for."""
_NAMES: Mapping[Happening, str] = {
    Happening.RUN_STARTED: "RunsStarted",
    Happening.RUN_COMPLETED: "RunsCompleted",
    Happening.RUN_FAILED: "RunsFailed",
    Happening.RUN_CANCELLED: "RunsCancelled",
    Happening.NODE_SUCCEEDED: "StepsSucceeded",
    Happening.NODE_FAILED: "StepsFailed",
    Happening.NODE_RETRYING: "StepsRetried",
    Happening.NODE_WAITING: "Waits",
}


class _Metrics(Protocol):
    def add_metric(self, name: str, unit: str, value: float) -> None:
        """Count."""

    def flush_metrics(self) -> None:
        """Write what was counted."""


class _Module(Protocol):
    def EphemeralMetrics(self, *, namespace: str, service: str) -> _Metrics:
        """Return metrics that share nothing with others."""


def counted(events: Iterable[RunEvent]) -> Mapping[str, int]:
    """Return how much of what the events tell; steps that a loop counts are in no number."""
    counts: Counter[str] = Counter()
    for event in events:
        name = _NAMES.get(event.kind)
        if name is not None and not event.recorded:
            counts[name] += 1
    return counts


def emit(settings: Settings, counts: Mapping[str, int]) -> None:
    """Write counts to the log, on AWS: nobody reads them elsewhere."""
    if settings.stage != "aws" or not counts:
        return
    module = cast("_Module", import_module("aws_lambda_powertools.metrics"))
    metrics = module.EphemeralMetrics(namespace=settings.prefix, service=SERVICE)
    for name, value in counts.items():
        metrics.add_metric(name, "Count", value)
    metrics.flush_metrics()
