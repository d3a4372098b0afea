"""The simulator answers as IAM documents it, and refuses to guess."""

from __future__ import annotations

import pytest

from scripts.policies import Document
from tests.security.simulator import Principal, Request, allowed


def who(*statements: dict[str, object], **tags: str) -> Principal:
    document = Document.model_validate({"Version": "2012-10-17", "Statement": list(statements)})
    return Principal("arn:aws:iam::1:role/r", (document,), tags)


def allow(**more: object) -> dict[str, object]:
    return {"Effect": "Allow", "Action": "s3:*", "Resource": "*", **more}


def only(operator: str, **keys: object) -> dict[str, object]:
    return allow(Condition={operator: keys})


GET = Request("s3:GetObject", "arn:aws:s3:::b/m-a/x", {"k": ("one", "two")})


def test_nothing_is_allowed_unless_said_and_a_refusal_wins() -> None:
    assert not allowed(who(), GET)
    assert allowed(who(allow()), GET)
    assert not allowed(who(allow(), allow(Effect="Deny")), GET)
    assert not allowed(
        who(allow(), {"Effect": "Deny", "NotAction": "s3:Put*", "Resource": "*"}), GET
    )


@pytest.mark.parametrize(("tag", "answer"), [("m-a", True), ("m-", False), ("m-*", False)])
def test_a_variable_stands_for_its_value_without_wildcards(tag: str, answer: bool) -> None:
    place = "arn:aws:s3:::b/${aws:PrincipalTag/mandate}/*"
    assert allowed(who(allow(Resource=place), mandate=tag), GET) is answer


def test_a_variable_without_a_value_matches_nothing() -> None:
    assert not allowed(who(allow(Resource="arn:aws:s3:::b/${aws:PrincipalTag/mandate}*")), GET)


@pytest.mark.parametrize(
    ("operator", "keys", "answer"),
    [
        ("ForAllValues:StringEquals", {"k": ["one", "two"]}, True),
        ("ForAllValues:StringEquals", {"k": ["one"]}, False),
        ("ForAllValues:StringEquals", {"absent": ["one"]}, True),
        ("ForAnyValue:StringEquals", {"k": ["two"]}, True),
        ("ForAnyValue:StringNotLike", {"k": ["o*"]}, True),
        ("ForAnyValue:StringNotLike", {"k": ["o*", "t?o"]}, False),
        ("ForAnyValue:StringEquals", {"absent": ["one"]}, False),
        ("StringEquals", {"absent": "one"}, False),
        ("StringNotEquals", {"absent": "one"}, True),
        ("Null", {"absent": "true"}, True),
        ("Null", {"k": "true"}, False),
        ("Null", {"K": "false"}, True),
    ],
)
def test_conditions_are_judged_as_iam_does(
    operator: str, keys: dict[str, object], answer: bool
) -> None:
    assert allowed(who(only(operator, **keys)), GET) is answer


def test_what_is_not_known_is_an_error() -> None:
    with pytest.raises(KeyError):
        allowed(who(only("DateLessThan", k="2026")), GET)
    with pytest.raises(ValueError, match="nobody knows"):
        allowed(who(only("Some:StringEquals", k="one")), GET)
    with pytest.raises(ValueError, match="NotPrincipal"):
        who(allow(NotPrincipal="*"))
