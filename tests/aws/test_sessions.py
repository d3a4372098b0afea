"""Each mandate's data is reached through a session of its own."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from dataclasses import replace
from datetime import timedelta
from typing import TYPE_CHECKING, cast
from urllib.parse import parse_qs

import boto3
import pytest
from moto import mock_aws
from moto.sts.models import sts_backends

from stellwerk import bootstrap
from stellwerk.aws import tables
from stellwerk.aws.expressions import Put
from stellwerk.aws.items import Items, Range
from stellwerk.aws.keys import Key
from stellwerk.aws.sessions import (
    Assumed,
    Credentials,
    Service,
    Sts,
    Tag,
    TenantRole,
    TenantSessions,
)
from stellwerk.aws.values import S3Values
from stellwerk.config import Settings
from stellwerk.kernel.errors import Forbidden, NotFound
from stellwerk.kernel.ids import MandateId, WorkflowId
from stellwerk.tenancy.scope import of_run
from tests.aws.scripted import Scripted, refusal
from tests.fakes.clock import START, FixedClock

if TYPE_CHECKING:
    from botocore.awsrequest import AWSPreparedRequest
    from botocore.client import BaseClient
    from mypy_boto3_s3 import S3Client

ROLE = TenantRole("arn:aws:iam::123456789012:role/stellwerk-tenant-data", "api")
DEMO, NORD = MandateId("m-demo"), MandateId("m-nord")
SETTINGS = Settings.of({"STELLWERK_REGION": "us-east-1", "STELLWERK_GROUP": "nodes"})


class FakeSts:
    """Gives out numbered credentials that last an hour."""

    def __init__(self, clock: FixedClock) -> None:
        self.clock = clock
        self.mandates: list[str] = []

    def assume_role(
        self, *, RoleArn: str, RoleSessionName: str, DurationSeconds: int, Tags: list[Tag]
    ) -> Assumed:
        self.mandates.append(next(tag["Value"] for tag in Tags if tag["Key"] == "mandate"))
        return {
            "Credentials": Credentials(
                AccessKeyId=f"key{len(self.mandates)}",
                SecretAccessKey="secret",
                SessionToken="token",
                Expiration=self.clock.now() + timedelta(seconds=DurationSeconds),
            )
        }


def connect(service: Service, credentials: Credentials) -> BaseClient:
    return cast("BaseClient", (service, credentials["AccessKeyId"]))


def faked(most: int = 200) -> tuple[TenantSessions, FakeSts, FixedClock]:
    clock = FixedClock()
    sts = FakeSts(clock)
    return TenantSessions(ROLE, lambda: sts, connect, clock, most=most), sts, clock


@pytest.fixture
def aws() -> Iterator[None]:
    with mock_aws():
        yield


def test_two_mandates_use_two_sessions_and_their_tags_are_sent(aws: None) -> None:
    bodies: list[dict[str, list[str]]] = []

    def record(request: AWSPreparedRequest, **_: object) -> None:
        body = request.body
        bodies.append(parse_qs(body.decode() if isinstance(body, bytes) else str(body)))

    session = boto3.Session("test", "test", region_name="us-east-1")
    sts = session.client("sts")
    sts.meta.events.register("before-send.sts.AssumeRole", record)
    used: list[tuple[str, str]] = []

    def connect(service: Service, credentials: Credentials) -> BaseClient:
        used.append((service, credentials["AccessKeyId"]))
        return cast("BaseClient", session.client(service))

    sessions = TenantSessions(ROLE, lambda: cast("Sts", sts), connect, FixedClock(START))
    for mandate in (DEMO, NORD):
        clients = sessions.of(mandate)
        assert clients.dynamodb.meta.service_model.service_name == "dynamodb"
        assert clients.s3.meta.service_model.service_name == "s3"
    sent = [{name: values[0] for name, values in body.items()} for body in bodies]
    assert [body["RoleArn"] for body in sent] == [ROLE.arn] * 2
    assert [body["RoleSessionName"] for body in sent] == ["api-m-demo", "api-m-nord"]
    tags = [
        {body[f"Tags.member.{n}.Key"]: body[f"Tags.member.{n}.Value"] for n in (1, 2)}
        for body in sent
    ]
    assert tags == [{"mandate": "m-demo", "group": "api"}, {"mandate": "m-nord", "group": "api"}]
    assert [service for service, _ in used] == ["dynamodb", "s3"] * 2
    assert len({key for _, key in used}) == 2


def test_a_session_is_kept_until_shortly_before_it_ends() -> None:
    sessions, sts, clock = faked()
    first = sessions.of(DEMO)
    clock.advance(minutes=54)
    assert sessions.of(DEMO) is first
    clock.advance(minutes=1)
    assert sessions.of(DEMO) is not first
    assert sts.mandates == ["m-demo"] * 2


def test_of_too_many_sessions_the_longest_unused_goes() -> None:
    sessions, sts, _ = faked(most=2)
    for mandate in ("m-a", "m-b", "m-a", "m-c", "m-a", "m-b"):
        sessions.of(MandateId(mandate))
    assert sts.mandates == ["m-a", "m-b", "m-c", "m-b"]


def test_threads_share_a_session_and_ask_for_it_once() -> None:
    sessions, sts, _ = faked()
    ready = threading.Barrier(8)

    def ask() -> None:
        ready.wait()
        sessions.of(DEMO)

    threads = [threading.Thread(target=ask) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sts.mandates == ["m-demo"]


def test_a_refused_session_is_an_error_of_ours() -> None:
    def connect(service: Service, credentials: Credentials) -> BaseClient:
        raise AssertionError

    sts = cast("Sts", _Refusing())
    sessions = TenantSessions(ROLE, lambda: sts, connect, FixedClock())
    with pytest.raises(Forbidden, match="because"):
        sessions.of(DEMO)


class _Refusing:
    def assume_role(self, **_: object) -> None:
        raise refusal("AccessDenied", status=403)


def test_a_request_goes_through_the_session_of_the_mandate_in_its_keys() -> None:
    answers = {name: Scripted({}) for name in ("process", "m-demo", "m-nord")}
    items = Items(
        answers["process"].client, "platform", tenants=lambda mandate: answers[mandate].client
    )
    items.get(Key("m-demo#i#workflow#1", "workflow"))
    items.get(Key("m-nord##mandate", "mandate"))
    items.get(Key("system##user#u", "user"))
    items.put(Put(Key("m-demo#audit#2026-11-02", "1"), {}))
    beside = [Key("m-demo##members", "u"), Key("system##user#u", "place#m-demo#")]
    items.transact([Put(key, {}) for key in beside])
    counts = {name: len(script.requests) for name, script in answers.items()}
    assert counts == {"process": 1, "m-demo": 3, "m-nord": 1}


def test_a_batch_over_mandates_is_read_session_by_session() -> None:
    keys = [Key("m-demo##mandate", "mandate"), Key("m-nord##mandate", "mandate")]
    demo, nord = ({"pk": {"S": key.pk}, "sk": {"S": key.sk}} for key in keys)
    found = {
        DEMO: Scripted({"Responses": {"platform": [demo]}, "UnprocessedKeys": {}}),
        NORD: Scripted({"Responses": {"platform": [nord]}, "UnprocessedKeys": {}}),
    }
    items = Items(Scripted({}).client, "platform", tenants=lambda mandate: found[mandate].client)
    assert set(items.batch(keys)) == set(keys)
    assert [len(script.requests) for script in found.values()] == [1, 1]


def test_no_request_reaches_two_mandates() -> None:
    script = Scripted({})
    items = Items(script.client, "platform")
    writes = [Put(Key(f"{mandate}#i#x", "x"), {}) for mandate in ("m-demo", "m-nord")]
    with pytest.raises(ValueError, match="may not reach m-demo and m-nord"):
        items.transact(writes)
    with pytest.raises(ValueError, match="may not reach m-demo and m-nord"):
        items.fill(writes)
    assert script.requests == []


def test_the_services_of_a_lambda_reach_each_mandate_through_its_own_session(aws: None) -> None:
    settings = replace(SETTINGS, tenant_role=ROLE.arn)
    own = bootstrap.SettingsClients(settings)
    creation = tables.creation(tables.PLATFORM, settings.platform_table)
    own.dynamodb.create_table(**creation)
    own.s3.create_bucket(Bucket=settings.bucket)
    services = bootstrap.build(settings)
    for mandate in (DEMO, NORD):
        scope = of_run(mandate, "i", "u")
        services.key_values.put(scope, WorkflowId("w"), "k", f"{mandate} " + "x" * 300_000)
        assert str(services.key_values.get(scope, WorkflowId("w"), "k")).startswith(mandate)
    assumed = sts_backends["123456789012"]["global"].assumed_roles
    assert [role.session_name for role in assumed] == ["nodes-m-demo", "nodes-m-nord"]
    assert {role.role_arn for role in assumed} == {ROLE.arn}


def test_the_services_reach_what_belongs_to_no_mandate_as_the_process_is(aws: None) -> None:
    settings = replace(SETTINGS, tenant_role=ROLE.arn)
    own = bootstrap.SettingsClients(settings)
    own.dynamodb.create_table(**tables.creation(tables.PLATFORM, settings.platform_table))
    own.s3.create_bucket(Bucket=settings.bucket)
    services = bootstrap.build(settings)
    scope = of_run("system", "", "u")
    services.key_values.put(scope, WorkflowId("w"), "k", "x" * 300_000)
    assert sts_backends["123456789012"]["global"].assumed_roles == []


def test_a_value_that_s3_forbids_is_not_there() -> None:
    script = Scripted(refusal("AccessDenied", status=403))
    values = S3Values(lambda mandate: cast("S3Client", script), "bucket")
    with pytest.raises(NotFound, match="no value 'runs/1'"):
        values.get(of_run("m-demo", "i", "u"), "runs/1")


def test_a_page_of_a_query_is_read_through_the_session_of_its_partition() -> None:
    script = Scripted({"Items": [], "Count": 0})
    items = Items(Scripted({}).client, "runs", tenants=lambda mandate: script.client)
    assert list(items.query(Range("m-demo#i#runs", index=tables.BY_INSTANCE))) == []
    assert items.count(Range("m-demo#i#runs", index=tables.BY_INSTANCE)) == 0
    assert len(script.requests) == 2
