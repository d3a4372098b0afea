from __future__ import annotations

import base64
import os
import subprocess
import sys
from pathlib import Path

import pytest

from localcloud.issuer.keys import SigningKey
from tests.secrets.vault import Vault, seeded

ROOT = Path(__file__).parents[2]
LEAKS = {
    "log": "logging.getLogger('any').warning('the password is %s', SECRET)",
    "log without propagation": "quiet().warning('with %s', SECRET)",
    "traceback": "try:\n        raise ValueError(SECRET)\n"
    "    except ValueError:\n        logging.exception('failed')",
    "field": "logging.warning('sent', extra={'headers': {'authorization': SECRET}})",
    "output": "print(SECRET)",
    "errors": "print(SECRET, file=sys.stderr)",
    "error": "NotFound('there is no ' + SECRET)",
    "remedy": "NotFound('no', remedy='try ' + SECRET)",
    "basic": "print(base64.b64encode(('client:' + SECRET).encode()).decode())",
    "audit": "ChainedAudit(FakeAuditLog(), FixedClock()).denied(seeded_scope(), 'a.b', SECRET, '')",
    "answer": "TestClient(Starlette(routes=[Route('/x', lambda request: "
    "PlainTextResponse(SECRET))])).get('/x')",
    "header": "TestClient(Starlette(routes=[Route('/x', lambda request: "
    "PlainTextResponse('', headers={'x-a': SECRET}))])).get('/x')",
    "command": "CliRunner().invoke(app, [])",
    "token": "print(SigningKey.of(None).signed({'sub': 'u-1'}))",
    "machine": "print(KeptSecrets(FakeMembers(), FixedClock()).register('c-1', 'CI').secret)",
}
"""Ways in which a secret may show."""
QUIET = {
    "kept": "assert SECRET",
    "shown once": "TestClient(Starlette(routes=[Route('/clients', lambda request: "
    "PlainTextResponse(SECRET), methods=['POST'])])).post('/clients')",
    "other words": "logging.warning('seeded %s', 'c3ctc2V')",
}
HEAD = """
import base64, logging, sys
import typer
from starlette.applications import Starlette
from starlette.responses import PlainTextResponse
from starlette.routing import Route
from starlette.testclient import TestClient
from typer.testing import CliRunner
from localcloud.issuer.keys import SigningKey
from stellwerk.kernel.errors import NotFound
from stellwerk.tenancy.chain import ChainedAudit
from stellwerk.tenancy.machines import KeptSecrets
from stellwerk.tenancy.scope import seeded as seeded_scope
from tests.fakes.audit import FakeAuditLog
from tests.fakes.clock import FixedClock
from tests.secrets.vault import seeded

SECRET = seeded("planted")
app = typer.Typer()

@app.command()
def write() -> None:
    typer.echo(SECRET)

def quiet() -> logging.Logger:
    logger = logging.getLogger("quiet")
    logger.propagate = False
    logger.addHandler(logging.NullHandler())
    return logger

class FakeMembers:
    def write_secret(self, secret):
        return secret
"""


@pytest.fixture(scope="module")
def report(tmp_path_factory: pytest.TempPathFactory) -> str:
    """What pytest says of tests that leak and tests that do not, in two processes."""
    folder = tmp_path_factory.mktemp("planted")
    (folder / "conftest.py").write_text('pytest_plugins = ["tests.secrets.plugin"]\n')
    tests = [
        f"def test_{kind}_{name.replace(' ', '_')}():\n    {line}\n"
        for kind, lines in (("leak", LEAKS), ("quiet", QUIET))
        for name, line in lines.items()
    ]
    (folder / "test_planted.py").write_text("\n".join([HEAD, *tests]))
    command = [
        sys.executable,
        "-m",
        "pytest",
        "-n",
        "2",
        "-v",
        "--rootdir",
        str(folder),
        str(folder),
    ]
    path = os.pathsep.join(str(ROOT / part) for part in ("layers/core", "functions", "."))
    done = subprocess.run(
        command,
        cwd=folder,
        env={**os.environ, "PYTHONPATH": path},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 1, done.stdout + done.stderr
    return done.stdout


@pytest.mark.parametrize("name", LEAKS)
def test_a_planted_leak_fails_its_test(report: str, name: str) -> None:
    assert f"FAILED test_planted.py::test_leak_{name.replace(' ', '_')} - SECRETS" in report


@pytest.mark.parametrize("name", QUIET)
def test_what_is_no_leak_fails_nothing(report: str, name: str) -> None:
    assert f"FAILED test_planted.py::test_quiet_{name.replace(' ', '_')}" not in report
    assert f"test_quiet_{name.replace(' ', '_')}" in report


def test_the_report_says_where_and_does_not_leak_itself(report: str) -> None:
    assert "a seeded secret (sw-seeded-...) shows in a log record of 'any'" in report
    assert seeded("planted") not in report


@pytest.mark.parametrize("before", ["", "a", "ab", "abc", "client:"])
def test_a_secret_is_found_in_base64(before: str) -> None:
    text = base64.b64encode((before + seeded("x")).encode()).decode()
    assert list(Vault().found(f"Basic {text}"))


def test_tokens_and_machines_secrets_are_found_by_their_looks() -> None:
    vault = Vault()
    assert list(vault.found(SigningKey.of(None).signed({"sub": "u-1"})))
    vault.add("m" * 43)
    assert list(vault.found(f"secret={'m' * 43};"))
    assert not list(vault.found("n" * 43))
