from __future__ import annotations

import json
from pathlib import Path

import pytest

from localcloud.cli.cloud import publish_samples, show_sample
from localcloud.cli.connection import connected
from localcloud.cli.output import Output
from stellwerk.kernel.json import JsonObject
from stellwerk.workflows.faults import InvalidGraph
from tests.cli.conftest import APPROVAL

CALLER: JsonObject = {
    "nodes": [
        {"key": "start", "type": "trigger.manual"},
        {"key": "call", "type": "flow.subworkflow", "parameters": {"workflow": "callee"}},
    ],
    "edges": [{"from": "start", "to": "call"}],
}
CALLEE: JsonObject = {"nodes": [{"key": "start", "type": "trigger.called"}]}


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
