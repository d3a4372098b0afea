"""A run that fails on the local cloud is told by mail: a real run, a real server."""

from __future__ import annotations

import json
import time
from dataclasses import replace
from pathlib import Path

from localcloud.cli.hosting import hosted
from stellwerk.config import Settings
from stellwerk.runs.model import RunStatus
from stellwerk.workflows.graph import Graph
from tests.cli.test_stats import FAILING
from tests.watching.test_telling import Inbox, inbox

__all__ = ["inbox"]
FAILURES = 30


def test_a_storm_of_failures_is_one_mail_at_once_and_one_with_the_rest(
    inbox: tuple[Inbox, str], tmp_path: Path
) -> None:
    box, server = inbox
    settings = Settings.of({"STELLWERK_DATA": str(tmp_path)})
    mailing = replace(settings, smtp=server, mail_from="stellwerk@b.example")
    with hosted(mailing) as connection:
        services, scope = connection.services, connection.scope
        graph = Graph.model_validate_json(json.dumps(FAILING))
        workflow, _ = services.workflows.publish(scope, graph, slug="failing")
        runs = [services.runs.start(scope, workflow.id).id for _ in range(FAILURES)]
        until = time.monotonic() + 30
        while any(services.runs.get(scope, run).status.open for run in runs) or not box.mails:
            assert time.monotonic() < until
            time.sleep(0.05)
        assert all(services.runs.get(scope, run).status is RunStatus.FAILED for run in runs)
        [mail] = box.mails
        assert "Failing has failed" in str(mail["Subject"])
        watching = services.watching  # type: ignore[attr-defined]
        [waiting] = watching.outbox.open(scope)
        assert waiting.count == FAILURES
        assert waiting.news + waiting.told == FAILURES
