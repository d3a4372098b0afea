"""The document and the API are held to each other: thousands of requests, good and bad ones."""

from __future__ import annotations

import itertools
from collections import Counter
from dataclasses import dataclass, field
from typing import Any

import pytest
import schemathesis
from schemathesis.checks import CHECKS
from schemathesis.config import SchemathesisConfig
from schemathesis.core.parameters import ParameterLocation
from schemathesis.core.result import Ok
from schemathesis.engine import events, from_schema
from schemathesis.generation.case import Case
from schemathesis.generation.meta import CaseMetadata, TestPhase
from schemathesis.hooks import GLOBAL_HOOK_DISPATCHER, HookContext

from scripts.openapi import PAGE, page
from tests.api.things import Things
from tests.api.world import World

pytestmark = pytest.mark.filterwarnings("ignore:Do not use the `random` module")
"""What runs in the cloud meanwhile, in threads of its own, may."""
CASES = 3000
EACH = 6
"""Generated cases for an operation, beside those that cover its parameters' borders."""
CHAINS = 40
"""Sequences of requests, in which one takes what another has made."""
GOOD = 2
"""How often an operation is called in a way that succeeds."""
HERE = {"mandate": "m-demo", "instance": "i-demo"}
GOVERNING = {"mandates", "instances", "members", "roles"}
"""Tags of what, if it changed the people and places of the others, would shut all of them out."""
CONFIG = {
    "headers": {"Authorization": "Bearer u-demo"},
    "operations": [
        {"include-operation-id": "createMandate", "headers": {"Authorization": "Bearer u-root"}}
    ],
    "generation": {"max-examples": EACH, "no-shrink": True, "deterministic": True},
    "phases": {"stateful": {"generation": {"max-examples": CHAINS}}},
    "checks": {
        # 412: the tag is of another version; 422: refused for what it says, though it fits
        "positive_data_acceptance": {
            "expected-statuses": ["2xx", "3xx", "401", "403", "404", "409", "412", "422", "429"]
        },
        "missing_required_header": {"expected-statuses": ["400", "401", "403", "404", "428"]},
    },
}
"""All checks are on; the statuses are those of the conventions."""


@dataclass
class Tally:
    """What happened."""

    operations: set[str] = field(default_factory=set)
    succeeded: Counter[str] = field(default_factory=Counter)
    statuses: Counter[int] = field(default_factory=Counter)
    checks: set[str] = field(default_factory=set)
    failures: list[str] = field(default_factory=list)

    def take(self, event: events.EngineEvent) -> None:
        if isinstance(event, events.NonFatalError | events.FatalError):
            self.failures.append(repr(event))
        if not isinstance(event, events.ScenarioFinished):
            return
        recorder = event.recorder
        for case_id, interaction in recorder.interactions.items():
            assert interaction.response is not None
            status = interaction.response.status_code
            self.statuses[status] += 1
            if status < 300:
                self.succeeded[recorder.cases[case_id].value.operation.label] += 1
        for checks in recorder.checks.values():
            for check in checks:
                self.checks.add(check.name)
                if check.failure_info is not None:
                    info = check.failure_info
                    self.failures.append(f"{check.name}: {info.failure}\n{info.code_sample}")


@pytest.fixture(scope="module")
def tally(one_world: World) -> Tally:
    config = SchemathesisConfig.from_dict(CONFIG)
    schema = schemathesis.openapi.from_asgi("/api/v1/openapi.json", one_world.app, config=config)
    found = [one.ok() for one in schema.get_all_operations() if isinstance(one, Ok)]
    told = Tally({operation.label for operation in found})
    guide = schemathesis.hook("before_call")(Guide(Things(one_world)))
    try:
        for event in from_schema(schema).execute():
            told.take(event)
    finally:
        GLOBAL_HOOK_DISPATCHER.unregister(guide)
    return told


class Guide:
    """Leads requests to places that exist, and some to things that were made for them."""

    def __init__(self, things: Things) -> None:
        self._things = things
        self._given: Counter[str] = Counter()
        self._keys = itertools.count()

    def __call__(self, context: HookContext, case: Case[Any], **_: object) -> None:
        meta = case.meta
        if meta is None or not is_plain(meta, ParameterLocation.PATH):
            return
        for name in case.path_parameters.keys() & HERE.keys():
            case.path_parameters[name] = HERE[name]
        if "Idempotency-Key" in case.headers and meta.generation.mode.is_positive:
            case.headers["Idempotency-Key"] = f"key-{next(self._keys)}"
        label = case.operation.label
        changes = label.startswith(("PATCH", "DELETE", "PUT"))
        governs = changes and case.operation.definition.raw["tags"][0] in GOVERNING
        if meta.generation.mode.is_positive and (governs or meta.phase.name != TestPhase.STATEFUL):
            first = self._given[label] < GOOD
            self._given[label] += 1
            if changes or first:
                self._make_good(case, whole=first)

    def _make_good(self, case: Case[Any], *, whole: bool) -> None:
        good = self._things.good(str(case.operation.definition.raw["operationId"]))
        if good is None:
            return
        for name in case.path_parameters.keys() & good.path.keys():
            case.path_parameters[name] = good.path[name]
        if good.body is not None and (whole or not good.path):
            case.body = good.body
        if "If-Match" in case.headers:
            case.headers["If-Match"] = "*"


def is_plain(meta: CaseMetadata, location: ParameterLocation) -> bool:
    """Say whether this part of a request is as the document wants it."""
    part = meta.components.get(location)
    return part is None or part.mode.is_positive


def test_no_request_breaks_the_document_or_the_api(tally: Tally) -> None:
    assert not tally.failures, "\n\n".join(tally.failures[:10])


def test_no_request_meets_a_fault_of_ours(tally: Tally) -> None:
    assert not [status for status in tally.statuses if status >= 500]


def test_every_check_there_is_was_made(tally: Tally) -> None:
    assert tally.checks == set(CHECKS.get_all_names())


def test_there_are_thousands_of_requests(tally: Tally) -> None:
    assert tally.statuses.total() >= CASES


def test_every_operation_succeeds_at_least_once(tally: Tally) -> None:
    assert tally.operations - tally.succeeded.keys() == set()


def test_the_written_document_is_the_apis() -> None:
    assert PAGE.read_text(encoding="utf-8") == page()
