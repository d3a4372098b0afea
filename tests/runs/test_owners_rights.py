"""Who starts by itself acts for the workflow's owner, with what the owner may do at that moment."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import pytest

from stellwerk.kernel.errors import Conflict, Forbidden
from stellwerk.kernel.ids import NodeKey, RoleId, RunId, UserId, WorkflowId
from stellwerk.kernel.json import JsonObject
from stellwerk.runs.audited import AuditedFiring
from stellwerk.runs.children import ChildCall
from stellwerk.runs.model import Run, RunStatus, StepStatus
from stellwerk.tenancy.owners import Owners
from stellwerk.tenancy.ports import Members
from stellwerk.tenancy.scope import Scope, of_platform, of_run
from tests.runs.stage import Stage, graph
from tests.tenancy.world import ANNA, BEN, CLARA, DEMO, EDITOR, World, world

AS_ANNA, AS_BEN = (of_run(DEMO, EDITOR, user) for user in (ANNA, BEN))
MANDATE, HERE = of_platform(DEMO), of_platform(DEMO).at(EDITOR)
TICK = NodeKey("tick")
SCHEDULED = graph({"tick": "trigger"})
CHILD = graph({"called": "called"})
CALL: JsonObject = {"type": "flow.subworkflow", "parameters": {"workflow": "child"}}
PARENT = graph({"start": "trigger", "call": CALL}, ["start call"])


class House:
    """The seeded company, with workflows of Ben's, and one of Anna's that calls one of them."""

    def __init__(self) -> None:
        self.company: World = world()
        owners = Owners(self.company.directory, self.company.clock)
        self.stage = Stage(scope=AS_BEN, actors=owners)
        self.stage.publish(SCHEDULED)
        self.stage.publish(CHILD, slug="child")
        Stage(self.stage.memory, scope=AS_ANNA, actors=owners).publish(PARENT, slug="parent")
        self.firing = AuditedFiring(self.stage.assembly, self.company.audit)

    @property
    def members(self) -> Members:
        return self.company.directory.members

    def fire(self, delivery: str = "d-1") -> Run:
        """Let the clock start Ben's workflow."""
        return self.firing.fire(HERE, WorkflowId("w-demo"), trigger=TICK, delivery=delivery)

    def manual(self, workflow: str) -> Run:
        """Let Anna start a workflow by hand."""
        return self.stage.assembly.runs.start(AS_ANNA, workflow)

    def call(self) -> Run:
        """Let Anna's workflow call Ben's, and return the run that comes of it."""
        parent = self.manual("parent")
        step = self.stage.write(parent, "call", StepStatus.RUNNING)
        call = ChildCall("child", {"n": 1})
        opened = self.stage.assembly.children.open(AS_ANNA, step, call, "token")
        return self.stage.world.runs.get(AS_ANNA, RunId(opened.child or ""))

    def runs(self) -> list[Run]:
        """Return all runs."""
        return list(self.stage.assembly.runs.list(AS_ANNA).items)

    def hand_over(self, owner: UserId) -> None:
        """Make someone the owner of Ben's workflow."""
        before = self.stage.versions.workflow(AS_BEN, WorkflowId("w-demo"))
        handed = before.model_copy(update={"created_by": owner})
        self.stage.versions.change(AS_BEN, before, handed)


@pytest.fixture
def house() -> House:
    return House()


def _removed(house: House) -> None:
    house.members.remove_membership(MANDATE, BEN)


def _suspended(house: House) -> None:
    stored = house.members.standing(HERE, BEN).membership
    assert stored is not None
    house.members.write_membership(MANDATE, stored.model_copy(update={"active": False}))


def _shut_out(house: House) -> None:
    house.members.remove_access(HERE, BEN)


def _without_role(house: House) -> None:
    stored = house.members.standing(HERE, BEN).access
    assert stored is not None
    house.members.write_access(HERE, stored.model_copy(update={"roles": ()}))


def _viewer(house: House) -> None:
    stored = house.members.standing(HERE, BEN).access
    assert stored is not None
    viewer = RoleId("r-i-demo-graphicalEditor-viewer")
    house.members.write_access(HERE, stored.model_copy(update={"roles": (viewer,)}))


def _role_without_rules(house: House) -> None:
    roles = house.company.directory.roles
    stored = roles.role(HERE, RoleId("r-i-demo-graphicalEditor-user"))
    roles.write_role(HERE, stored.model_copy(update={"rules": ()}))


def _role_deleted(house: House) -> None:
    roles = house.company.directory.roles
    roles.delete_role(HERE, roles.role(HERE, RoleId("r-i-demo-graphicalEditor-user")))


def _blind(house: House) -> None:
    """Let Ben's role start runs, and not read workflows."""
    roles = house.company.directory.roles
    stored = roles.role(HERE, RoleId("r-i-demo-graphicalEditor-user"))
    kept = tuple(rule for rule in stored.rules if not rule.item.endswith(".workflows"))
    roles.write_role(HERE, stored.model_copy(update={"rules": kept}))


def _mandate_asleep(house: House) -> None:
    mandates = house.company.directory.mandates
    mandates.write_mandate(MANDATE, mandates.mandate(MANDATE).model_copy(update={"active": False}))


def _instance_asleep(house: House) -> None:
    mandates = house.company.directory.mandates
    stored = mandates.instance(MANDATE, EDITOR)
    mandates.write_instance(MANDATE, stored.model_copy(update={"active": False}))


LOSSES: dict[str, tuple[Callable[[House], None], str]] = {
    "removed from the mandate": (_removed, "'u-demo-user' is no active member of the mandate"),
    "suspended": (_suspended, "'u-demo-user' is no active member of the mandate"),
    "without access": (_shut_out, "'u-demo-user' has no access to the instance"),
    "without role": (_without_role, "may not use 'execute' here"),
    "viewer": (_viewer, "may not use 'execute' here"),
    "role emptied": (_role_without_rules, "may not use 'execute' here"),
    "role deleted": (_role_deleted, "may not use 'execute' here"),
    "cannot read it": (_blind, "may not read workflows here"),
    "mandate not active": (_mandate_asleep, "acts in a mandate that is not active"),
    "instance not active": (_instance_asleep, "acts in an instance that is not active"),
}
LOST = pytest.mark.parametrize("loss", LOSSES)


def test_a_run_that_a_trigger_starts_acts_for_the_owner(house: House) -> None:
    run = house.fire()
    assert (run.user, run.trigger.node, run.trigger.delivery) == (BEN, "tick", "d-1")
    assert run.execution in house.stage.executions.started
    [begun, done] = house.company.records()[-2:]
    assert [begun.outcome, done.outcome] == ["begun", "done"]
    assert (done.action, done.user, done.object) == ("run.start", BEN, f"run:{run.id}")


@LOST
def test_what_the_owner_has_lost_since_publishing_refuses_the_start(
    house: House, loss: str
) -> None:
    lose, reason = LOSSES[loss]
    lose(house)
    with pytest.raises(Forbidden, match=reason) as refused:
        house.fire()
    assert "Workflow 'demo' would run in the name of its owner 'u-demo-user'" in str(refused.value)
    assert "transfer the workflow" in refused.value.remedy
    assert house.runs() == []
    assert house.stage.executions.started == {}
    assert house.company.acts()[-1] == "run.start denied"
    assert reason in house.company.records()[-1].reason


@LOST
def test_a_sub_workflow_whose_owner_has_lost_it_is_refused_to_its_caller(
    house: House, loss: str
) -> None:
    lose, reason = LOSSES[loss]
    lose(house)
    with pytest.raises(Forbidden, match=reason):
        house.call()
    [parent] = house.runs()
    assert (parent.user, parent.status, parent.waits) == (ANNA, RunStatus.RUNNING, 0)
    assert house.stage.step(parent, "call").child is None


@LOST
def test_who_starts_by_hand_needs_nothing_of_the_owner(house: House, loss: str) -> None:
    LOSSES[loss][0](house)
    run = house.manual("demo")
    assert run.user == ANNA
    assert run.execution in house.stage.executions.started


def test_a_sub_workflow_acts_for_its_own_owner_and_not_for_the_caller(house: House) -> None:
    child = house.call()
    assert child.user == BEN
    assert child.parent is not None
    assert house.stage.world.runs.get(AS_ANNA, child.parent.run).user == ANNA
    [started] = [data for arn, data in house.stage.executions.started.items() if child.id in arn]
    assert isinstance(started["run"], dict)
    assert started["run"]["user"] == BEN


def test_a_child_that_is_on_record_is_not_asked_for_again(house: House) -> None:
    child = house.call()
    _removed(house)
    assert child.parent is not None
    parent = house.stage.world.runs.get(AS_ANNA, child.parent.run)
    step = house.stage.step(parent, "call")
    call = ChildCall("child", {"n": 1})
    opened = house.stage.assembly.children.open(AS_ANNA, step, call, "token again")
    assert opened.child == child.id


def test_a_redelivery_finds_its_run_whatever_the_owner_has_lost_since(house: House) -> None:
    run = house.fire()
    _removed(house)
    assert house.fire().id == run.id
    assert len(house.runs()) == 1
    with pytest.raises(Forbidden):
        house.fire("d-2")


def test_a_delivery_that_was_refused_starts_once_the_owner_may(house: House) -> None:
    before = house.members.standing(HERE, BEN).access
    assert before is not None
    _without_role(house)
    with pytest.raises(Forbidden):
        house.fire()
    stored = house.members.standing(HERE, BEN).access
    assert stored is not None
    house.members.write_access(HERE, stored.model_copy(update={"roles": before.roles}))
    assert house.fire().user == BEN


def test_a_workflow_that_was_handed_over_acts_for_the_new_owner(house: House) -> None:
    _removed(house)
    house.hand_over(ANNA)
    assert house.fire().user == ANNA
    house.hand_over(CLARA)
    with pytest.raises(Forbidden, match="'u-demo-viewer', who may not start it"):
        house.fire("d-2")


def test_a_start_that_cannot_be_put_on_record_does_not_happen(house: House) -> None:
    house.company.log.down = True
    with pytest.raises(Exception, match="audit"):
        house.fire()
    assert house.runs() == []


def test_a_workflow_that_sleeps_is_started_by_nothing(house: House) -> None:
    before = house.stage.versions.workflow(AS_BEN, WorkflowId("w-demo"))
    asleep = before.model_copy(update={"active": False})
    house.stage.versions.change(AS_BEN, before, asleep)
    with pytest.raises(Conflict, match="not active"):
        house.fire()


def test_a_stranger_fires_nothing(house: House) -> None:
    elsewhere: Scope = replace(HERE, mandate=of_platform().mandate)
    with pytest.raises(Exception, match="w-demo"):
        house.firing.fire(elsewhere, WorkflowId("w-demo"), trigger=TICK, delivery="d-1")
    assert house.runs() == []
