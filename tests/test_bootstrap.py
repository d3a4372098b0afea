from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from dataclasses import replace
from functools import partial
from pathlib import Path

import pytest
from moto import mock_aws

import stellwerk
from localcloud.seeding.seeds import Seeds
from stellwerk.aws import tables
from stellwerk.aws.bodies import Bodies
from stellwerk.aws.directory import directory
from stellwerk.aws.items import Items
from stellwerk.bootstrap import NoCompiler, Provider, Services, SettingsClients, build
from stellwerk.catalogue.model import Kind
from stellwerk.config import Settings
from stellwerk.features.found import FoundFeatures
from stellwerk.kernel.errors import Conflict, Forbidden
from stellwerk.kernel.ids import NodeKey
from stellwerk.runs.model import RunStatus
from stellwerk.tenancy.scope import (
    SEEDED_INSTANCE,
    SEEDED_MANDATE,
    SEEDED_USER,
    of_platform,
    seeded,
)
from stellwerk.workflows.compiler import GraphCompiler
from stellwerk.workflows.graph import Graph, Node
from tests.fakes.catalogue import FakeCatalogue, node_type
from tests.fakes.clock import START, FixedClock

SETTINGS = Settings.of({"STELLWERK_HTTP_ALLOW": "127.0.0.1:1", "STELLWERK_REGION": "us-east-1"})
GRAPH = Graph(title="Hello", nodes=(Node(key=NodeKey("start"), type="trigger.manual"),))
TYPES = FakeCatalogue(node_type("trigger.manual", kind=Kind.TRIGGER))


@pytest.fixture
def deployed() -> Iterator[SettingsClients]:
    """A deployment's tables, bucket and bus."""
    with mock_aws():
        clients = SettingsClients(SETTINGS)
        for table, name in (
            (tables.PLATFORM, SETTINGS.platform_table),
            (tables.RUNS, SETTINGS.runs_table),
            (tables.AUDIT, SETTINGS.audit_table),
        ):
            clients.dynamodb.create_table(**tables.creation(table, name))
        clients.s3.create_bucket(Bucket=SETTINGS.bucket)
        clients.events.create_event_bus(Name=SETTINGS.bus)
        yield clients


def test_a_workflow_is_published_and_started_through_the_services(
    deployed: SettingsClients,
) -> None:
    services = build(
        SETTINGS, deployed, clock=FixedClock(), catalogue=TYPES, compiler=GraphCompiler()
    )
    workflow, version = services.workflows.publish(seeded(), GRAPH)
    run = services.runs.start(seeded(), workflow.slug, payload={"hello": "ü"})
    assert (run.status, run.started) == (RunStatus.RUNNING, START)
    found = deployed.stepfunctions.describe_execution(executionArn=run.execution)
    assert found["stateMachineArn"] == version.machines[""]
    assert services.tasks.list(seeded()).items == []
    services.key_values.put(seeded(), workflow.id, "k", 1)
    assert services.key_values.get(seeded(), workflow.id, "k") == 1
    assert services.http_allow == ("127.0.0.1:1",)
    assert services.catalogue is TYPES


def test_what_starts_by_itself_acts_for_an_owner_who_is_looked_up(
    deployed: SettingsClients,
) -> None:
    services = build(
        SETTINGS, deployed, clock=FixedClock(), catalogue=TYPES, compiler=GraphCompiler()
    )
    workflow, _ = services.workflows.publish(seeded(), GRAPH)
    scope = of_platform(SEEDED_MANDATE).at(SEEDED_INSTANCE)
    fire = partial(services.firing.fire, scope, workflow.id, trigger=NodeKey("start"))
    with pytest.raises(Forbidden, match="'u-demo' acts in a mandate that is not active"):
        fire(delivery="d-1")
    platform = Items(deployed.dynamodb, SETTINGS.platform_table)
    people = directory(platform, Bodies(services.press.values))
    Seeds(people, FoundFeatures().all(), issuer="https://issuer.example", clock=FixedClock()).sow()
    run = fire(delivery="d-1")
    assert (run.user, run.status) == (SEEDED_USER, RunStatus.RUNNING)
    assert next(services.assembly.rounds.everywhere()).mandate == SEEDED_MANDATE


def test_a_process_without_compiler_publishes_nothing(deployed: SettingsClients) -> None:
    services = build(SETTINGS, catalogue=TYPES)
    with pytest.raises(Conflict, match="cannot publish"):
        services.workflows.publish(seeded(), GRAPH)
    with pytest.raises(Conflict, match="cannot publish"):
        NoCompiler().compile(GRAPH, TYPES, prefix="stellwerk", comment="")


def test_services_are_built_once_and_by_whoever_provides_them() -> None:
    built: list[Services] = []

    def factory() -> Services:
        built.append(build(SETTINGS))
        return built[-1]

    provider = Provider(factory)
    assert built == []
    assert provider() is provider() is built[0]
    other = build(replace(SETTINGS, prefix="other"))
    provider.provide(lambda: other)
    assert provider() is other
    assert len(built) == 1


def test_running_nodes_imports_neither_checks_nor_compiler() -> None:
    unwanted = (
        "jsonschema",
        "boto3",
        "stellwerk.workflows.compile",
        "stellwerk.workflows.diff",
        "stellwerk.workflows.service",
        "stellwerk.workflows.validate",
    )
    program = f"import sys, stellwerk.bootstrap; print([m for m in {unwanted} if m in sys.modules])"
    found = subprocess.run(
        [sys.executable, "-c", program],
        check=True,
        capture_output=True,
        text=True,
        env={"PYTHONPATH": str(Path(stellwerk.__file__).parents[1])},
    )
    assert found.stdout.strip() == "[]"
