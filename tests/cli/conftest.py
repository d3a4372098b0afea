from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import pytest
from typer.testing import CliRunner

from localcloud.cli.hosting import hosted
from localcloud.cli.main import app
from stellwerk.config import Settings
from stellwerk.kernel.json import JsonObject

APPROVAL: JsonObject = {
    "title": "Payment",
    "nodes": [
        {"key": "start", "type": "trigger.manual"},
        {
            "key": "large",
            "type": "flow.if",
            "parameters": {"condition": "{{ $trigger.amount > 1000 }}"},
        },
        {
            "key": "ask",
            "type": "input.approval",
            "parameters": {"title": "Pay {{ $trigger.amount }}?", "assignees": ["role:finance"]},
        },
        {
            "key": "pay",
            "type": "data.set",
            "parameters": {"fields": {"paid": "{{ $trigger.amount }}"}},
        },
        {
            "key": "refuse",
            "type": "flow.stop",
            "parameters": {"outcome": "error", "message": "not approved"},
        },
    ],
    "edges": [
        {"from": "start", "to": "large"},
        {"from": "large", "port": "true", "to": "ask"},
        {"from": "large", "port": "false", "to": "pay"},
        {"from": "ask", "port": "approved", "to": "pay"},
        {"from": "ask", "port": "rejected", "to": "refuse"},
    ],
}

CALLED: JsonObject = {
    "title": "Ask",
    "nodes": [
        {"key": "begin", "type": "trigger.called"},
        {
            "key": "ask",
            "type": "input.form",
            "parameters": {
                "title": "How much?",
                "assignees": ["role:finance"],
                "form": {
                    "type": "object",
                    "required": ["amount"],
                    "properties": {"amount": {"type": "number"}, "note": {"type": "string"}},
                },
            },
        },
    ],
    "edges": [{"from": "begin", "to": "ask"}],
}
"""A workflow that others call; it asks a person for an amount."""


def calling(callee: str) -> JsonObject:
    """A workflow that calls another."""
    call: JsonObject = {"workflow": callee, "input": {"who": "{{ $trigger.who }}"}}
    return {
        "title": f"Calls {callee}",
        "nodes": [
            {
                "key": "start",
                "type": "trigger.manual" if callee != "ask" else "trigger.called",
                "parameters": {"schema": {"type": "object"}},
            },
            {"key": "call", "type": "flow.subworkflow", "parameters": call},
        ],
        "edges": [{"from": "start", "to": "call"}],
    }


@dataclass(frozen=True)
class Answer:
    """What a command wrote and how it ended."""

    code: int
    shown: str
    errors: str

    @property
    def data(self) -> JsonObject:
        """What it wrote for machines."""
        data: JsonObject = json.loads(self.shown)
        return data


Stellwerk = Callable[..., Answer]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """The data folder of a cloud that runs for all tests of a module.

    A process has room for one: tests that start clouds of their own are in other modules.
    """
    data = tmp_path_factory.mktemp("cloud")
    with hosted(Settings.of({"STELLWERK_DATA": str(data)}), port=0):
        yield data


@pytest.fixture
def stellwerk(folder: Path) -> Stellwerk:
    """Run a command on the running cloud."""
    return lambda *arguments: invoke(folder, arguments)


@pytest.fixture
def payment(tmp_path: Path) -> str:
    """A workflow file: large amounts are approved by a person."""
    file = tmp_path / "payment.json"
    file.write_text(json.dumps(APPROVAL), encoding="utf-8")
    return str(file)


def invoke(folder: Path, arguments: Sequence[str], columns: str | None = None) -> Answer:
    """Run a command on whatever uses the folder, as on a terminal of so many columns."""
    environment = {"STELLWERK_DATA": str(folder), "COLUMNS": columns}
    result = CliRunner(env=environment).invoke(app, list(arguments))
    if result.exception is not None and not isinstance(result.exception, SystemExit):
        raise result.exception
    return Answer(result.exit_code, result.stdout, result.stderr)
