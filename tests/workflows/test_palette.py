from __future__ import annotations

from stellwerk.catalogue.model import Kind
from stellwerk.kernel.ids import InstanceId, MandateId, RoleId, UserId
from stellwerk.tenancy.access import AccessRule, Context, Grant, Principal, Priority
from stellwerk.tenancy.scope import Scope, of_principal
from stellwerk.workflows.palette import Palette
from tests.fakes.catalogue import FakeCatalogue, node_type

PALETTE = Palette(
    FakeCatalogue(
        node_type("flow.if", kind=Kind.STEP),
        node_type("http.request", kind=Kind.STEP),
    )
)


def scope(**allowed: bool) -> Scope:
    rules = tuple(
        AccessRule(context=Context.RESOURCE, item=f"resource.feature.x.use.{group}", view=view)
        for group, view in allowed.items()
    )
    grant = Grant(Priority.INSTANCE, RoleId("r"), "r", rules)
    principal = Principal(UserId("u"), (grant,))
    return of_principal(principal, MandateId("m"), InstanceId("i"), feature="x")


def test_types_are_usable_where_their_group_is_allowed() -> None:
    offered = PALETTE.types(scope(flow=True, http=False))
    assert {one.declared.type: one.usable for one in offered} == {
        "flow.if": True,
        "http.request": False,
    }


def test_one_type_is_found_with_whether_it_is_usable() -> None:
    found = PALETTE.find(scope(flow=True), "http.request")
    assert found is not None
    assert not found.usable
    assert PALETTE.find(scope(flow=True), "flow.unknown") is None
