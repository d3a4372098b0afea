"""Rules of the decision that hold for all roles, compared with one that is written out slowly."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from stellwerk.kernel.ids import InstanceId, MandateId, RoleId, UserId
from stellwerk.tenancy.access import (
    AccessRule,
    Context,
    Decision,
    Grant,
    Level,
    Place,
    Principal,
    Priority,
    Row,
    Verb,
    closest,
    decide,
)

ITEMS = ["data.a", "data.a.b", "data.a.b.c", "data.ab", "ui.a"]
PATTERNS = [*ITEMS, "*", "data.*", "data.a.*", "data.a.b.*", "ui.*"]
PLACE = Place(MandateId("m-1"), InstanceId("i-1"))
USERS = [UserId("u-1"), UserId("u-2")]

levels = st.sampled_from(Level)
rules = st.builds(
    AccessRule,
    context=st.sampled_from(Context),
    item=st.sampled_from(PATTERNS),
    view=st.booleans(),
    read=levels,
    create=levels,
    update=levels,
    delete=levels,
)
grants = st.builds(
    lambda priority, number, rules: Grant(
        priority, RoleId(f"r-{number}"), f"role {number}", tuple(rules)
    ),
    st.sampled_from(Priority),
    st.integers(0, 99),
    st.lists(rules, max_size=5),
)
held = st.lists(grants, max_size=6)
rows = st.none() | st.builds(
    Row,
    mandate=st.sampled_from([PLACE.mandate, MandateId("m-2")]),
    instance=st.sampled_from([PLACE.instance, InstanceId("i-2")]),
    created_by=st.sampled_from(USERS),
)
contexts, items, verbs = st.sampled_from(Context), st.sampled_from(ITEMS), st.sampled_from(Verb)


def asked(
    grants: list[Grant], context: Context, item: str, verb: Verb, row: Row | None = None
) -> Decision:
    principal = Principal(USERS[0], tuple(grants))
    return decide(principal, context, item, verb, place=PLACE, row=row)


def matches(rule: AccessRule, context: Context, item: str) -> bool:
    if rule.context is not context:
        return False
    if rule.item.endswith(".*"):
        return item.startswith(rule.item.removesuffix("*"))
    return rule.item in {item, "*"}


def slowly(grants: list[Grant], context: Context, item: str, verb: Verb) -> Level | None:
    """Return the level by the words of the page; None where no rule says anything."""
    for priority in (Priority.INSTANCE, Priority.MANDATE, Priority.GLOBAL):
        answers = []
        for grant in grants:
            if grant.priority is not priority:
                continue
            fitting = [rule for rule in grant.rules if matches(rule, context, item)]
            for pattern in [item, *sorted(PATTERNS, key=len, reverse=True)]:
                said = [rule.level(verb) for rule in fitting if rule.item == pattern]
                if said:
                    answers.append(max(said, key=list(Level).index))
                    break
        if answers:
            return max(answers, key=list(Level).index)
    return None


@given(held, contexts, items, verbs)
def test_the_level_is_that_of_the_words(
    grants: list[Grant], context: Context, item: str, verb: Verb
) -> None:
    expected = slowly(grants, context, item, verb)
    found = asked(grants, context, item, verb)
    assert found.level is (expected or Level.NONE)
    assert (found.rule is None) == (expected is None)
    assert found.allowed == (found.level is not Level.NONE)


@given(held, contexts, items, verbs, rows)
def test_a_row_is_reached_as_far_as_the_level_says(
    grants: list[Grant], context: Context, item: str, verb: Verb, row: Row | None
) -> None:
    level = asked(grants, context, item, verb).level
    found = asked(grants, context, item, verb, row)
    assert found.level is level
    if row is None:
        return
    here = row.mandate == PLACE.mandate
    inside = here and row.instance == PLACE.instance
    reached = {
        Level.NONE: False,
        Level.MY: inside and row.created_by == USERS[0],
        Level.INSTANCE: inside,
        Level.ALL: here,
    }
    assert found.allowed == reached[level]


@given(held, contexts, items, verbs)
def test_the_order_of_roles_and_rules_does_not_matter(
    grants: list[Grant], context: Context, item: str, verb: Verb
) -> None:
    turned = [
        Grant(grant.priority, grant.role, grant.label, grant.rules[::-1])
        for grant in reversed(grants)
    ]
    before, after = asked(grants, context, item, verb), asked(turned, context, item, verb)
    assert (before.allowed, before.level) == (after.allowed, after.level)


@given(held, grants, contexts, items, verbs)
def test_one_more_role_of_the_deciding_priority_never_takes_anything(
    grants: list[Grant], more: Grant, context: Context, item: str, verb: Verb
) -> None:
    before = asked(grants, context, item, verb).level
    deciding = [grant.priority for grant in grants if closest(grant.rules, context, item, verb)]
    after = asked([*grants, more], context, item, verb).level
    if deciding and more.priority is max(deciding):
        assert after.rank >= before.rank
    if deciding and more.priority < max(deciding):
        assert after is before


@given(held, contexts, items, verbs)
def test_the_reason_names_who_and_what(
    grants: list[Grant], context: Context, item: str, verb: Verb
) -> None:
    found = asked(grants, context, item, verb)
    assert f"'{item}'" in found.reason
    assert found.role in found.reason
    if found.rule:
        assert f"'{found.rule.item}'" in found.reason
        assert found.rule in [rule for grant in grants for rule in grant.rules]
