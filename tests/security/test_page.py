"""docs/security.md says what the template's policies say."""

from __future__ import annotations

from dataclasses import replace

import pytest

from scripts import security_page
from scripts.policies import Deployment, Role


def test_the_page_is_what_the_template_says(capsys: pytest.CaptureFixture[str]) -> None:
    assert security_page.main(["--check"]) == 0, capsys.readouterr().err


def test_a_statement_without_a_reason_is_an_error() -> None:
    deployment = Deployment.of()
    role = deployment.roles["NodeRole"]
    [first, *others] = role.policies
    odd = first.statements[0].model_copy(update={"sid": "Odd"})
    changed = first.model_copy(update={"statements": (odd,)})

    class Changed(Deployment):
        @property
        def roles(self) -> dict[str, Role]:
            return {**deployment.roles, "NodeRole": replace(role, policies=(changed, *others))}

    with pytest.raises(KeyError, match="Odd"):
        security_page.page(Changed({}))
