"""Whatever the stores ask for a node, the template allows to nodes: their contract runs again."""

from __future__ import annotations

from stellwerk.aws import directory as dynamo
from stellwerk.aws import tables
from stellwerk.aws.bodies import Bodies
from stellwerk.aws.items import Items
from stellwerk.tenancy.owners import Owners
from stellwerk.tenancy.scope import of_run
from tests.contracts import (
    test_journal,
    test_key_values,
    test_runs,
    test_tasks,
    test_values,
    test_waits,
)
from tests.contracts.stores import Moto
from tests.fakes.clock import FixedClock
from tests.fakes.memory import Memory
from tests.fakes.versions import FakeValues
from tests.security.adopted import adopted
from tests.security.guard import GuardedMoto
from tests.tenancy.world import BEN, DEMO, EDITOR, world

GROUP = "nodes"
globals().update(
    adopted(test_journal, test_key_values, test_runs, test_tasks, test_values, test_waits)
)


def test_a_node_reads_what_the_owner_of_a_sub_workflow_may_do(moto: GuardedMoto) -> None:
    free, bodies, table = Moto().dynamodb, Bodies(FakeValues(Memory())), "platform-owners"
    free.create_table(**tables.creation(tables.PLATFORM, table))
    world(dynamo.directory(Items(free, table), bodies))
    guarded = dynamo.directory(Items(moto.dynamodb, table), bodies)
    acting = Owners(guarded, FixedClock()).acting(of_run(DEMO, EDITOR, BEN), BEN)
    assert "graphicalEditor-user" in {grant.label for grant in acting.principal.grants}


def test_the_policies_were_asked(moto: GuardedMoto) -> None:
    used = ("GetItem", "BatchGetItem", "Query", "PutItem", "UpdateItem", "BatchWriteItem")
    assert moto.asked >= {f"dynamodb:{action}" for action in used}
    assert moto.asked >= {"s3:GetObject", "s3:PutObject", "dynamodb:ConditionCheckItem"}
