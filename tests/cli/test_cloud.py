"""Clouds of their own: this module does not use the shared one, whose state they would end."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from tests.cli.conftest import APPROVAL, invoke


@contextmanager
def up(folder: Path) -> Iterator[subprocess.Popen[str]]:
    """Run `stellwerk up` in a process of its own; the block begins when it says that it is up."""
    process = subprocess.Popen(
        [sys.executable, "-m", "localcloud.cli.main", "up", "--api-port", "0"],
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
        second = invoke(folder, ["up", "--api-port", "0"])
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


def test_lists_without_anything_say_so(tmp_path: Path) -> None:
    assert "stellwerk run starts one" in invoke(tmp_path, ["runs"]).shown
    assert invoke(tmp_path, ["runs", "--status", "failed"]).shown.strip() == "No run is like that."
    assert invoke(tmp_path, ["tasks"]).shown.strip() == "No task is pending."
    assert "stellwerk up --samples" in invoke(tmp_path, ["--help"]).shown
