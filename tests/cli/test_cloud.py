from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from localcloud.cli.cloud import publish_samples, show_sample
from localcloud.cli.connection import connected
from localcloud.cli.output import Output
from stellwerk.kernel.json import JsonObject
from stellwerk.workflows.faults import InvalidGraph
from tests.cli.conftest import APPROVAL, invoke

CALLER: JsonObject = {
    "nodes": [
        {"key": "start", "type": "trigger.manual"},
        {"key": "call", "type": "flow.subworkflow", "parameters": {"workflow": "callee"}},
    ],
    "edges": [{"from": "start", "to": "call"}],
}
CALLEE: JsonObject = {"nodes": [{"key": "start", "type": "trigger.called"}]}


@contextmanager
def up(folder: Path) -> Iterator[subprocess.Popen[str]]:
    """Run `stellwerk up` in a process of its own; the block begins when it says that it is up."""
    process = subprocess.Popen(
        [sys.executable, "-m", "localcloud.cli.main", "up"],
        stdout=subprocess.PIPE,
        text=True,
        env={**os.environ, "STELLWERK_DATA": str(folder)},
    )
    assert process.stdout is not None
    try:
        assert "is up at http://127.0.0.1:" in process.stdout.readline()
        yield process
    finally:
        process.kill()
        process.wait()
        process.stdout.close()


def test_a_cloud_that_is_up_serves_other_processes_until_it_is_told_to_end(tmp_path: Path) -> None:
    workflow = tmp_path / "payment.json"
    workflow.write_text(json.dumps(APPROVAL), encoding="utf-8")
    folder = tmp_path / "data"
    with up(folder) as process:
        assert invoke(folder, ["run", str(workflow), "--input", '{"amount": 1}']).code == 0
        second = invoke(folder, ["up"])
        assert second.code == 2
        assert f"process {process.pid}" in second.errors
        process.send_signal(signal.SIGTERM)
        assert process.wait(timeout=20) == 0
    assert not (folder / "cloud.json").exists()


def test_a_run_that_pauses_is_decided_by_a_later_command_with_a_cloud_of_its_own(
    tmp_path: Path,
) -> None:
    workflow = tmp_path / "payment.json"
    workflow.write_text(json.dumps(APPROVAL), encoding="utf-8")
    folder = tmp_path / "data"
    paused = invoke(folder, ["run", str(workflow), "--input", '{"amount": 4711}', "--json"])
    assert paused.data["status"] == "paused"
    tasks = invoke(folder, ["tasks", "--json"]).data["tasks"]
    assert isinstance(tasks, list)
    assert isinstance(tasks[0], dict)
    decided = invoke(folder, ["decide", str(tasks[0]["id"]), "approved", "--json"])
    assert decided.code == 0
    assert decided.data["status"] == "completed"
    assert decided.data["id"] == paused.data["id"]


def test_after_a_kill_the_same_task_is_decided_and_the_run_completes(tmp_path: Path) -> None:
    workflow = tmp_path / "payment.json"
    workflow.write_text(json.dumps(APPROVAL), encoding="utf-8")
    folder = tmp_path / "data"
    with up(folder):
        paused = invoke(folder, ["run", str(workflow), "--input", '{"amount": 4711}', "--json"])
    tasks = paused.data["tasks"]
    assert isinstance(tasks, list)
    assert isinstance(tasks[0], dict)
    with up(folder):
        decided = invoke(folder, ["decide", str(tasks[0]["id"]), "approved", "--json"])
    assert decided.data["status"] == "completed"


def test_samples_that_call_others_are_published_after_these(
    folder: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    (tmp_path / "a-caller.json").write_text(json.dumps(CALLER), encoding="utf-8")
    (tmp_path / "callee.json").write_text(json.dumps(CALLEE), encoding="utf-8")
    monkeypatch.setenv("STELLWERK_DATA", str(folder))
    with connected() as connection:
        publish_samples(connection, Output(as_json=False), tmp_path)
    assert capsys.readouterr().out.split() == ["published", "callee", "published", "a-caller"]


def test_a_sample_that_calls_what_is_not_there_is_a_fault(
    folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    text = json.dumps(CALLER).replace("callee", "nobody")
    (tmp_path / "caller.json").write_text(text, encoding="utf-8")
    monkeypatch.setenv("STELLWERK_DATA", str(folder))
    with connected() as connection, pytest.raises(InvalidGraph, match="nobody"):
        publish_samples(connection, Output(as_json=False), tmp_path)


def test_a_sample_runs_with_its_input_once_and_is_shown_again(
    folder: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    (tmp_path / "demo.json").write_text(json.dumps(APPROVAL), encoding="utf-8")
    small = tmp_path / "demo.small.input.json"
    small.write_text('{"amount": 815}', encoding="utf-8")
    monkeypatch.setenv("STELLWERK_DATA", str(folder))
    with connected() as connection:
        publish_samples(connection, Output(as_json=False), tmp_path)
        shown = []
        for _ in range(2):
            capsys.readouterr()
            show_sample(connection, Output(as_json=False), small)
            shown.append(capsys.readouterr().out)
    assert 'output {"pay":{"paid":815}}' in shown[0]
    assert shown[0] == shown[1]
