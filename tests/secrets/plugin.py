"""A plugin for pytest that fails each test in which a secret shows; see `tests.secrets`.

It works in every process of pytest-xdist by itself: a test's report carries what was found.
"""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable, Generator
from functools import wraps
from typing import Any

import httpx2
import pytest
from typer.testing import CliRunner, Result

from localcloud.issuer.keys import SigningKey
from stellwerk.kernel.errors import StellwerkError
from stellwerk.tenancy.evidence import AuditRecord
from stellwerk.tenancy.machines import KeptSecrets
from stellwerk.tenancy.ports import Credentials
from tests.secrets.vault import Vault

SHOWN_ONCE = ("/oidc/token", "/token", "/clients", "/rotate")
"""Ends of paths whose answers carry secrets for those who asked for them."""
_KEY = pytest.StashKey["Watch"]()


class Watch:
    """Looks at texts as they come about, and keeps what shows in them until a test is asked."""

    def __init__(self) -> None:
        self.vault = Vault()
        self._found: list[str] = []
        self._undo: list[Callable[[], None]] = []
        self._lock = threading.Lock()

    def look(self, where: str, text: str) -> None:
        """Look at a text."""
        for what in self.vault.found(text):
            with self._lock:
                self._found.append(f"{what} shows in {where}")

    def take(self) -> list[str]:
        """Return what was found since the last time."""
        with self._lock:
            found, self._found = self._found, []
        return list(dict.fromkeys(found))

    def start(self) -> None:
        """Begin to look."""
        self._before(logging.Logger, "handle", self._log)
        self._after(StellwerkError, "__init__", lambda error, _: self._error(error))
        self._after(AuditRecord, "sealed", lambda _, sealed: self._audit(sealed))
        self._after(httpx2.Client, "send", lambda _, answer: self._answer(answer))
        self._after(CliRunner, "invoke", lambda _, result: self._command(result))
        self._after(SigningKey, "signed", lambda _, token: self.vault.add(token))
        for method in ("register", "renew"):
            self._after(KeptSecrets, method, lambda _, made: self._credentials(made))

    def stop(self) -> None:
        """Leave everything as it was."""
        for undo in reversed(self._undo):
            undo()

    def _before(self, owner: type, name: str, look: Callable[[Any], None]) -> None:
        """Let `look` see the first argument of each call of a method."""
        method = getattr(owner, name)

        @wraps(method)
        def watched(self: object, first: Any, *args: Any, **kwargs: Any) -> Any:  # any signature
            look(first)
            return method(self, first, *args, **kwargs)

        self._replace(owner, name, method, watched)

    def _after(self, owner: type, name: str, look: Callable[[Any, Any], None]) -> None:
        """Let `look` see each object and result of a method."""
        method = getattr(owner, name)

        @wraps(method)
        def watched(self: object, *args: Any, **kwargs: Any) -> Any:  # any signature
            result = method(self, *args, **kwargs)
            look(self, result)
            return result

        self._replace(owner, name, method, watched)

    def _replace(self, owner: type, name: str, method: object, watched: object) -> None:

        setattr(owner, name, watched)
        self._undo.append(lambda: setattr(owner, name, method))

    def _log(self, record: logging.LogRecord) -> None:
        trace = logging.Formatter().formatException(record.exc_info) if record.exc_info else ""
        more = {name: value for name, value in vars(record).items() if name not in {"args", "msg"}}
        self.look(f"a log record of '{record.name}'", f"{_message(record)}\n{trace}\n{more}")

    def _error(self, error: StellwerkError) -> None:
        self.look(f"the message of a {error.type}", f"{error.message}\n{error.remedy}")

    def _audit(self, record: AuditRecord) -> None:
        self.look(f"the audit record of '{record.action}'", record.model_dump_json())

    def _answer(self, answer: httpx2.Response) -> None:
        request = answer.request
        if request.method == "POST" and request.url.path.endswith(SHOWN_ONCE):
            return
        body = answer.text if answer.is_closed else ""
        headers = "\n".join(f"{name}: {value}" for name, value in answer.headers.items())
        self.look(f"the answer to {request.method} {request.url.path}", f"{headers}\n{body}")

    def _command(self, result: Result) -> None:
        self.look("what a command wrote", result.output)

    def _credentials(self, made: Credentials) -> None:
        self.vault.add(made.secret)


def _message(record: logging.LogRecord) -> str:
    try:
        return record.getMessage()
    except Exception as error:  # noqa: BLE001 (a broken log call is told by logging itself)
        return f"{record.msg} {error}"


def pytest_configure(config: pytest.Config) -> None:
    """Begin to look."""
    config.stash[_KEY] = Watch()
    config.stash[_KEY].start()


def pytest_unconfigure(config: pytest.Config) -> None:
    """Stop looking."""
    config.stash[_KEY].stop()


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(
    item: pytest.Item, call: pytest.CallInfo[None]
) -> Generator[None, pytest.TestReport, pytest.TestReport]:
    """Fail a phase of a test in which a secret has shown."""
    report = yield
    watch = item.config.stash[_KEY]
    for name, text in report.sections:
        watch.look(name.lower(), text)
    if found := watch.take():
        report.outcome = "failed"
        report.longrepr = "SECRETS SHOW:\n" + "\n".join(f"- {each}" for each in found)
        report.sections = [(name, "(withheld)") for name, _ in report.sections]
    return report
