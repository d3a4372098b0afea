from __future__ import annotations

import re
from datetime import timedelta

from stellwerk.aws import keys, tables
from stellwerk.aws.runs import DELIVERY_LIFE
from stellwerk.kernel.ids import ROOT, NodeKey, Path, RunId, TaskId
from stellwerk.runs.model import RunStatus, StepKey, TaskStatus
from tests.contracts.records import RUN, SCOPE, START, STRANGERS, WORKFLOW, run
from tests.contracts.stores import Moto


def test_every_key_begins_with_mandate_and_instance() -> None:
    places = [
        keys.workflow(SCOPE, WORKFLOW),
        keys.version(SCOPE, WORKFLOW, 1),
        keys.datum(SCOPE, WORKFLOW, "x"),
        keys.slug(SCOPE, "x"),
        keys.run(SCOPE, RUN),
        keys.loops(SCOPE, RUN),
        keys.step(SCOPE, RUN, StepKey(path=ROOT, node=NodeKey("n"))),
        keys.step(SCOPE, RUN, StepKey(path=Path("l[0]"), node=NodeKey("n"))),
        keys.task(SCOPE, TaskId("t")),
        keys.task_of_run(SCOPE, RUN, START, TaskId("t")),
        keys.delivery(SCOPE, WORKFLOW, "d"),
    ]
    partitions = [
        *(place.pk for place in places),
        *keys.loop_partitions(SCOPE, RUN),
        keys.runs_of_instance(SCOPE),
        keys.runs_of_workflow(SCOPE, WORKFLOW),
        keys.runs_by_status(SCOPE, RunStatus.RUNNING),
        keys.runs_of_workflow_by_status(SCOPE, WORKFLOW, RunStatus.RUNNING),
        keys.runs_open(SCOPE),
        keys.tasks_by_status(SCOPE, TaskStatus.PENDING),
        keys.tasks_due(SCOPE),
        keys.tasks_unanswered(SCOPE),
    ]
    assert all(partition.startswith("m-one#i-one#") for partition in partitions)
    assert len(set(places)) == len(places)
    assert keys.value(SCOPE, "k") == "m-one/i-one/k"
    for stranger in STRANGERS:
        assert keys.run(stranger, RUN) != keys.run(SCOPE, RUN)


def test_steps_inside_loops_are_spread_over_all_shards() -> None:
    paths = [Path(f"lines[{index}]") for index in range(200)]
    used = {keys.step(SCOPE, RUN, StepKey(path=path, node=NodeKey("n"))).pk for path in paths}
    assert used == set(keys.loop_partitions(SCOPE, RUN))
    assert keys.run(SCOPE, RUN).pk not in used


def test_the_creation_request_names_exactly_the_attributes_of_keys(moto: Moto) -> None:
    for table in tables.TABLES:
        name = f"made-{table.name}"
        moto.dynamodb.create_table(**tables.creation(table, name))
        made = moto.dynamodb.describe_table(TableName=name)["Table"]
        indexes = {index["IndexName"] for index in made.get("GlobalSecondaryIndexes", [])}
        assert indexes == {index.name for index in table.indexes}
        defined = {found["AttributeName"] for found in made["AttributeDefinitions"]}
        assert defined == set(table.attributes)


def test_a_delivery_is_remembered_for_400_days(moto: Moto) -> None:
    stores, client = moto.stores()
    stores.runs.create(SCOPE, run(1, delivery="d"))
    table = moto.last_runs_table
    place = keys.delivery(SCOPE, WORKFLOW, "d")
    raw = moto.dynamodb.get_item(
        TableName=table, Key={"pk": {"S": place.pk}, "sk": {"S": place.sk}}
    )["Item"]
    assert int(raw[tables.TTL_ATTRIBUTE]["N"]) == (run(1).started + DELIVERY_LIFE).timestamp()
    assert timedelta(days=400) == DELIVERY_LIFE
    assert client.requests == ["transact_write_items"]


def test_a_run_is_in_no_sweep_once_it_is_over(moto: Moto) -> None:
    stores, _ = moto.stores()
    created = stores.runs.create(SCOPE, run())
    stores.runs.end(SCOPE, created.model_copy(update={"status": RunStatus.COMPLETED}))
    place = keys.run(SCOPE, RunId("r-1"))
    raw = moto.dynamodb.get_item(
        TableName=moto.last_runs_table, Key={"pk": {"S": place.pk}, "sk": {"S": place.sk}}
    )["Item"]
    assert not any(re.match("in_sweep|sweep_at", name) for name in raw)
