"""`audit` on a local cloud."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from localcloud.cli.hosting import hosted
from localcloud.clients import BotoClients
from localcloud.discovery import find_running
from stellwerk.aws import keys
from stellwerk.aws.expressions import Put
from stellwerk.aws.items import Items
from stellwerk.config import Settings
from stellwerk.tenancy.scope import seeded
from tests.cli.conftest import APPROVAL, Answer, invoke


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """The data folder of a cloud with a workflow that was published."""
    data = tmp_path_factory.mktemp("cloud")
    file = data / "payment.json"
    file.write_text(json.dumps(APPROVAL), encoding="utf-8")
    with hosted(Settings.of({"STELLWERK_DATA": str(data)}), port=0):
        assert invoke(data, ["publish", str(file)]).code == 0
        yield data


def audit(folder: Path, *arguments: str) -> Answer:
    return invoke(folder, ["audit", *arguments])


def test_who_did_what_is_exported_and_verified_until_someone_edits_it(
    folder: Path, tmp_path: Path
) -> None:
    lines = audit(folder, "export").shown.splitlines()
    records = [json.loads(line) for line in lines]
    assert {record["user"] for record in records} == {"u-demo"}
    assert {record["outcome"] for record in records} == {"begun", "done"}
    whole = audit(folder, "verify")
    assert (whole.code, "the chain is whole" in whole.shown) == (0, True)
    out = tmp_path / "audit.jsonl"
    day = records[0]["day"]
    assert audit(folder, "export", "--since", day, "--until", day, "--out", str(out)).code == 0
    assert out.read_text(encoding="utf-8").splitlines() == lines
    assert audit(folder, "export", "--out", str(tmp_path / "no" / "folder")).code == 2

    edit(folder, {**records[0], "user": "u-nord-user"})
    broken = audit(folder, "verify")
    assert broken.code == 1
    assert "edited" in broken.shown
    assert "does not match its hash" in broken.shown
    told = audit(folder, "verify", "--day", day, "--json")
    assert told.code == 1
    faults = told.data["faults"]
    assert isinstance(faults, list)
    assert [isinstance(fault, dict) and fault["kind"] for fault in faults] == ["edited"]
    assert audit(folder, "verify", "--day", "2020-01-01").code == 0


def test_another_mandate_has_a_chain_of_its_own(folder: Path) -> None:
    found = invoke(folder, ["--mandate", "m-nord", "audit", "verify", "--json"])
    assert (found.code, found.data["mandate"], found.data["records"]) == (0, "m-nord", 0)


def test_what_is_no_day_is_refused(folder: Path) -> None:
    refused = audit(folder, "verify", "--day", "yesterday", "--json")
    assert refused.code == 2
    assert audit(folder, "export", "--since", "yesterday").code == 2


def edit(folder: Path, record: dict[str, str]) -> None:
    """Put a record in place of the first one, as someone could who gets at the table."""
    found = find_running(folder)
    assert found is not None
    items = Items(BotoClients(found.endpoint).dynamodb, "stellwerk-audit")
    key = keys.audit_record(seeded(), record["day"], "0000000001")
    items.put(Put(key, {"record": json.dumps(record)}))
