"""The template's policies allow what the table of expectations says, and nothing looser passes."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from itertools import pairwise
from pathlib import Path

import pytest

from scripts.policies import Deployment, Document, Role, Statement
from tests.security.acting import GROUPS, OWN, ROLES, TENANT_DATA, Row, World, rows, wrong
from tests.security.simulator import Principal

DEPLOYMENT = Deployment.of()
TABLE = tuple(rows((Path(__file__).parent / "expectations.txt").read_text(encoding="utf-8")))
WORLD = World(DEPLOYMENT.roles, DEPLOYMENT.on_resources)


def test_everybody_may_what_the_table_says_and_nothing_else_of_it() -> None:
    found = [f"{row}: should be {'yes' if row.may else 'no'}" for row in wrong(WORLD, TABLE)]
    assert not found, "\n".join(found)
    assert len(TABLE) > 1000
    said = {(str(row), row.may) for row in TABLE}
    assert len({row for row, _ in said}) == len(said), "two lines contradict each other"


def mutants() -> Iterator[tuple[str, str, World]]:
    """Yield the deployment with one statement looser, or one right less, at a time.

    Some things are refused twice. So that the second refusal does not hide that the first is gone,
    rights are judged where nothing is refused, and refusals where tables refuse nothing.
    """
    for base, effect in ((ALLOWING, "Allow"), (replace(WORLD, on_resources={}), "Deny")):
        for name, role in base.roles.items():
            for number, policy in enumerate(role.policies):
                for place, statement in enumerate(policy.statements):
                    if statement.effect == effect:
                        for what, other in _variants(statement):
                            changed = _with(policy, place, other)
                            others = (role.policies[:number], role.policies[number + 1 :])
                            policies = (*others[0], changed, *others[1])
                            roles = {**base.roles, name: replace(role, policies=policies)}
                            label = f"{name} {statement.sid}: {what}"
                            yield label, name, replace(base, roles=roles)


def _allowing(role: Role) -> Role:
    """Return the role with its rights alone."""
    policies = (
        [each for each in policy.statements if each.effect == "Allow"] for policy in role.policies
    )
    kept = tuple(
        policy.model_copy(update={"statements": tuple(statements)})
        for policy, statements in zip(role.policies, policies, strict=True)
    )
    return replace(role, policies=kept)


def _with(policy: Document, place: int, other: Statement | None) -> Document:
    kept = list(policy.statements)
    kept[place : place + 1] = [] if other is None else [other]
    return policy.model_copy(update={"statements": tuple(kept)})


def _variants(statement: Statement) -> Iterator[tuple[str, Statement | None]]:
    if statement.effect == "Deny":
        yield "refusal removed", None
        return
    for action in statement.action:
        less = tuple(each for each in statement.action if each != action)
        yield f"without {action}", statement.model_copy(update={"action": less or ("no:thing",)})
    services = {action.split(":")[0] for action in statement.action}
    wide = tuple(f"{service}:*" for service in sorted(services))
    yield "all actions", statement.model_copy(update={"action": wide})
    if statement.resource != ("*",):
        yield "everywhere", statement.model_copy(update={"resource": ("*",)})
    for operator in statement.condition:
        rest = {key: value for key, value in statement.condition.items() if key != operator}
        yield f"without {operator}", statement.model_copy(update={"condition": rest})


def role_of(row: Row) -> str:
    """Return the role under which a row's principal acts."""
    return TENANT_DATA if "@" in row.who else ROLES[row.who.strip("!")]


ALLOWING = World({name: _allowing(role) for name, role in WORLD.roles.items()}, {})
NO_STEPS = {
    f"lambda:{name}"
    for name in ("api", "sweeper", "ended", "events", "notices", "claims", "told", "due", "look")
}
BY_RIGHTS = [
    row
    for row in TABLE
    if not row.who.startswith("!")
    and row.keys not in {"plain", "none"}  # all of no keys are like anything
    and (row.resource not in NO_STEPS or row.who == "scheduler")
]
"""Rows that hold by what is allowed alone, without any refusal."""
MUTANTS = {label: (role, world) for label, role, world in mutants()}
HARMLESS = {
    # the statement's condition names a key that no other action of the service carries
    "ApiRole GiveMachinesTheirRole: all actions",
    "ApiRole GiveSchedulesTheirRole: all actions",
    "SystemRole GiveSchedulesTheirRole: all actions",
}


def test_rights_are_right_without_any_refusal() -> None:
    found = [f"{row}: should be {row.may}" for row in wrong(ALLOWING, BY_RIGHTS)]
    assert not found, "\n".join(found)


@pytest.mark.parametrize("what", sorted(MUTANTS.keys() - HARMLESS))
def test_whoever_loosens_or_tightens_a_policy_hears_of_it(what: str) -> None:
    role, world = MUTANTS[what]
    table = TABLE if "refusal" in what else BY_RIGHTS
    concerned = [row for row in table if role_of(row) == role and row.keys != "plain"]
    assert next(wrong(world, concerned), None) is not None, f"no row of the table notices: {what}"


def test_evidence_is_protected_by_its_table_too() -> None:
    without = {name: _without(role, "NoChangeOfEvidence") for name, role in WORLD.roles.items()}
    assert not list(wrong(replace(WORLD, roles=without), TABLE))


def _without(role: Role, sid: str) -> Role:
    policies = tuple(
        policy.model_copy(
            update={"statements": tuple(each for each in policy.statements if each.sid != sid)}
        )
        for policy in role.policies
    )
    return replace(role, policies=policies)


@pytest.mark.parametrize("group", GROUPS)
def test_a_group_assumes_tenant_data_for_a_mandate_as_itself(group: str) -> None:
    assert WORLD.assumes(WORLD.principal(group), {"mandate": OWN, "group": group})


@pytest.mark.parametrize("group", GROUPS)
@pytest.mark.parametrize(
    "tags",
    [
        {},
        {"mandate": OWN},
        {"group": "GROUP"},
        {"mandate": "", "group": "GROUP"},
        {"mandate": "system", "group": "GROUP"},
        {"mandate": "m-", "group": "GROUP"},
        {"mandate": "*", "group": "GROUP"},
        {"mandate": OWN, "group": "other"},
        {"mandate": OWN, "group": "GROUP", "more": "x"},
    ],
    ids=str,
)
def test_a_session_without_mandate_or_with_more_is_refused(
    group: str, tags: dict[str, str]
) -> None:
    meant = {key: value.replace("GROUP", group) for key, value in tags.items()}
    assert not WORLD.assumes(WORLD.principal(group), meant)


def test_no_group_poses_as_another_one() -> None:
    for one, other in pairwise([*GROUPS, "nodes"]):
        assert not WORLD.assumes(WORLD.principal(one), {"mandate": OWN, "group": other})


def test_nobody_else_assumes_tenant_data_not_even_a_session_of_it() -> None:
    tags = {"mandate": OWN, "group": "nodes"}
    for name in ("identity", "states", "nodes@", "api@", "!identity", "!states", "!nodes@"):
        assert not WORLD.assumes(WORLD.principal(name), tags), name
    stranger = Principal("arn:aws:iam::123456789012:user/eve", WORLD.principal("!nodes").policies)
    assert not WORLD.assumes(stranger, tags)


def test_functions_take_their_roles_by_lambda_alone() -> None:
    trusted = {name: role.trust.statements for name, role in WORLD.roles.items()}
    lambdas = [name for key, name in ROLES.items() if key not in {"states", "scheduler"}]
    for name in lambdas:
        assert [each.principal for each in trusted[name]] == [
            {"Service": ("lambda.amazonaws.com",)}
        ]
    assert [each.principal for each in trusted["SchedulerRole"]] == [
        {"Service": ("scheduler.amazonaws.com",)}
    ]
    assert set(trusted) == {*ROLES.values(), TENANT_DATA}, "a role that nobody has judged"


def test_policies_fit_into_what_iam_takes() -> None:
    for role in WORLD.roles.values():
        inline = sum(_size(policy) for policy in role.policies)
        assert inline < 10_240
        assert _size(role.trust) < 2_048
    for name in ("Steps", "Refusals"):
        assert _size(DEPLOYMENT.managed(name)) < 6_144


def _size(document: Document) -> int:
    return len(document.model_dump_json(by_alias=True, exclude_defaults=True))
