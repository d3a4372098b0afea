"""The scripts that guard the repository find what they are there to find."""

from __future__ import annotations

import ast
import json
import re
import subprocess
from pathlib import Path

import pytest

from scripts import coverage_limits, shape, tracked
from tests.asl import asl_errors, validate_asl

ROOT = Path(__file__).parent.parent.parent


def report(path: Path, files: dict[str, tuple[int, int]]) -> str:
    data = {
        "files": {
            name: {
                "summary": {
                    "num_statements": wanted,
                    "covered_lines": reached,
                    "num_branches": 0,
                    "covered_branches": 0,
                },
                "missing_lines": list(range(1, wanted - reached + 1)),
                "missing_branches": [],
            }
            for name, (wanted, reached) in files.items()
        }
    }
    path.write_text(json.dumps(data), encoding="utf-8")
    return str(path)


def test_a_line_of_the_compiler_without_a_test_is_reported(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = "layers/core/stellwerk/workflows/compile/plan.py"
    assert coverage_limits.main(report(tmp_path / "c.json", {file: (100, 99)})) == 1
    shown = capsys.readouterr().err
    assert f"{file}: not reached: lines [1]" in shown
    assert "stellwerk.workflows: 99.0 % of 100 %" in shown


def test_other_packages_may_miss_a_tenth(tmp_path: Path) -> None:
    file = "layers/core/stellwerk/runs/model.py"
    assert coverage_limits.main(report(tmp_path / "c.json", {file: (100, 90)})) == 0
    assert coverage_limits.main(report(tmp_path / "c.json", {file: (100, 89)})) == 1


@pytest.mark.parametrize(
    ("path", "package"),
    [
        ("layers/core/stellwerk/runs/model.py", "stellwerk.runs"),
        ("layers/core/stellwerk/config.py", "stellwerk"),
        ("functions/nodes/flow/if/handler.py", "nodes"),
        ("localcloud/cli/main.py", "localcloud"),
    ],
)
def test_a_file_counts_for_its_package(path: str, package: str) -> None:
    assert coverage_limits.package_of(path) == package


@pytest.mark.parametrize(
    "line",
    [
        '"resolve" "d": "x"'.replace('" "', ""),
        "https://files." + "example.org/a",
        "see " + "py" + "pi.org",
        "cd /wor" + "k/main",
        "x = 1  # pragma: no" + " cover",
        "x = 1  # type: " + "ignore",
    ],
)
def test_what_has_no_place_in_the_repository_is_reported(tmp_path: Path, line: str) -> None:
    file = tmp_path / "file.txt"
    file.write_text(f"fine\n{line}\n", encoding="utf-8")
    assert [fault.split(": ")[0] for fault in tracked.faults(file)] == [f"{file}:2"]


def test_binary_files_are_left_alone(tmp_path: Path) -> None:
    file = tmp_path / "file.bin"
    file.write_bytes(b"\xff\xfe/wor" + b"k/main")
    assert not list(tracked.faults(file))


def test_a_body_is_measured_without_signature_and_docstring() -> None:
    source = 'def f(\n    a,\n):\n    """Say.\n\n    More.\n    """\n    x = a\n    return x\n'
    assert list(shape.bodies(ast.parse(source))) == [("f", 1, 2)]


def test_asl_validator_accepts_and_refuses_in_one_process() -> None:
    good = {"QueryLanguage": "JSONata", "StartAt": "a", "States": {"a": {"Type": "Succeed"}}}
    bad = {"StartAt": "a", "States": {"a": {"Type": "Pass", "Next": "nowhere"}}}
    accepted, refused = asl_errors([json.dumps(good), json.dumps(bad)])
    assert accepted == []
    assert any("nowhere" in error for error in refused)
    assert validate_asl([json.dumps(good)]) == []
    assert all(line.startswith("definition 0: ") for line in validate_asl([json.dumps(bad)]))


def test_make_help_names_every_target() -> None:
    text = (ROOT / "Makefile").read_text(encoding="utf-8")
    declared = re.search(r"^\.PHONY: (.*)$", text, re.MULTILINE)
    assert declared is not None
    shown = subprocess.run(
        ["make", "--no-print-directory", "help"],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=True,
    )
    assert {line.split(" - ")[0] for line in shown.stdout.splitlines()} == set(declared[1].split())


def test_pages_link_to_what_exists() -> None:
    pages = [*ROOT.glob("*.md"), *(ROOT / "docs").rglob("*.md")]
    for page in pages:
        for target in re.findall(r"\]\((?!http)([^)#]+)", page.read_text(encoding="utf-8")):
            assert (page.parent / target).exists(), f"{page.name} links to {target}"
