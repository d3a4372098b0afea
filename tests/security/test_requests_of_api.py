"""Whatever the stores ask for the API, the template allows to it: their contract runs again.

Runs and tasks are asked for as nodes ask, by the same statements.
"""

from __future__ import annotations

from tests.contracts import (
    test_audit,
    test_directory,
    test_directory_members,
    test_files,
    test_hooks,
    test_requests,
    test_versions,
)
from tests.security.adopted import adopted
from tests.security.guard import GuardedMoto

GROUP = "api"
globals().update(
    adopted(
        test_audit,
        test_directory,
        test_directory_members,
        test_files,
        test_hooks,
        test_requests,
        test_versions,
    )
)


def test_the_policies_were_asked(moto: GuardedMoto) -> None:
    used = ("GetItem", "BatchGetItem", "Query", "PutItem", "UpdateItem", "DeleteItem")
    assert moto.asked >= {f"dynamodb:{action}" for action in used}
    assert moto.asked >= {"s3:GetObject", "s3:PutObject", "s3:DeleteObject"}
