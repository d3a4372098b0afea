from __future__ import annotations

import io
from pathlib import Path

import pytest

from localcloud.cli.arguments import is_file, json_value, pairs, read_file, slug_of
from stellwerk.kernel.errors import BadInput, NotFound


def test_json_is_taken_as_typed() -> None:
    assert json_value('{"amount": 12.5}', "--input") == {"amount": 12.5}
    assert json_value(None, "--input") is None
    assert json_value("null", "--input") is None


def test_an_at_sign_names_a_file(tmp_path: Path) -> None:
    file = tmp_path / "input.json"
    file.write_text('["ä"]', encoding="utf-8")
    assert json_value(f"@{file}", "--input") == ["ä"]


def test_at_minus_reads_standard_input(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sys.stdin", io.StringIO("7"))
    assert json_value("@-", "--input") == 7


@pytest.mark.parametrize(
    "text", ["{", "amount: 1", "", "NaN", "[Infinity]", "[" * 100_000], ids=range(6)
)
def test_what_is_not_json_is_refused_with_a_remedy(text: str) -> None:
    with pytest.raises(BadInput, match="--input is not JSON") as refused:
        json_value(text, "--input")
    assert "@FILE" in refused.value.remedy


def test_a_file_that_is_not_text_is_refused(tmp_path: Path) -> None:
    file = tmp_path / "input.json"
    file.write_bytes(b"\xff\xfe")
    with pytest.raises(BadInput, match="--input is not JSON"):
        json_value(f"@{file}", "--input")


def test_a_missing_file_is_not_found_and_a_folder_is_bad_input(tmp_path: Path) -> None:
    with pytest.raises(NotFound, match=r"no file .*absent\.json"):
        read_file(tmp_path / "absent.json")
    with pytest.raises(BadInput, match="cannot be read"):
        read_file(tmp_path)


def test_pairs_may_hold_an_equals_sign_in_the_value() -> None:
    assert pairs(["approve=approved", "a[0].b=x=y"], "--decide") == {
        "approve": "approved",
        "a[0].b": "x=y",
    }


@pytest.mark.parametrize("entry", ["approve", "=approved"])
def test_a_pair_without_a_name_or_an_equals_sign_is_refused(entry: str) -> None:
    with pytest.raises(BadInput, match="takes NAME=VALUE"):
        pairs([entry], "--decide")


def test_files_and_slugs_are_told_apart(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    assert is_file("order.json")
    assert is_file("samples/order")
    assert not is_file("order")
    Path("order").touch()
    assert is_file("order")


@pytest.mark.parametrize(
    ("name", "slug"),
    [("Leave request.json", "leave-request"), ("a_b.json", "a-b"), ("ÄÖ.json", "workflow")],
)
def test_a_workflow_is_named_after_its_file(name: str, slug: str) -> None:
    assert slug_of(Path(name)) == slug
