"""The SAM application agrees with the code, and stays within what CloudFormation takes."""

from __future__ import annotations

import inspect
import json

import pytest

from scripts.policies import Deployment
from stellwerk.aws.tables import TABLES, Table, creation
from stellwerk.config import Settings
from stellwerk.kernel.json import JsonObject, JsonValue
from stellwerk.tenancy import chain
from tests.project import template as sam

TEMPLATE = sam.load()
RESOURCES = sam.resources(TEMPLATE)
FUNCTIONS = {
    name: sam.section(resource, "Properties")
    for name, resource in RESOURCES.items()
    if resource["Type"] == "AWS::Serverless::Function"
}


def handler(properties: JsonObject) -> str:
    """Return a function's handler as CloudFormation works it out."""
    written = properties["Handler"]
    if isinstance(written, str):
        return written
    inner = sam.section(properties, "Handler")["Fn::Sub"]
    if isinstance(inner, str):
        return inner
    assert isinstance(inner, list)
    joined = json.loads(json.dumps(inner[1]))["Path"]["Fn::Join"]
    separator, split = joined[0], joined[1]["Fn::Split"]
    return str(inner[0]).replace("${Path}", separator.join(split[1].split(split[0])))


@pytest.mark.parametrize("name", FUNCTIONS)
def test_every_function_has_its_handler(name: str) -> None:
    module, _, attribute = handler(FUNCTIONS[name]).rpartition(".")
    path = sam.ROOT / "functions" / f"{module.replace('.', '/')}.py"
    assert attribute == "handler"
    assert path.is_file(), f"{name} wants {path}"


def test_every_handler_has_its_function() -> None:
    wanted = {f"{handler(each).removesuffix('.handler')}" for each in FUNCTIONS.values()}
    root = sam.ROOT / "functions"
    there = {
        ".".join(path.relative_to(root).with_suffix("").parts) for path in root.rglob("handler.py")
    }
    assert there == wanted


@pytest.mark.parametrize("table", TABLES, ids=lambda table: table.name)
def test_tables_are_those_of_the_code(table: Table) -> None:
    properties = sam.section(RESOURCES[f"{table.name.title()}Table"], "Properties")
    wanted = creation(table, "any")
    for field in ("AttributeDefinitions", "KeySchema", "BillingMode"):
        assert properties[field] == json.loads(json.dumps(wanted[field]))
    assert properties.get("GlobalSecondaryIndexes", []) == json.loads(
        json.dumps(wanted.get("GlobalSecondaryIndexes", []))
    )
    expiry = {"AttributeName": table.ttl, "Enabled": True} if table.ttl else None
    assert properties.get("TimeToLiveSpecification") == expiry


def test_tables_survive_mistakes_and_are_encrypted() -> None:
    tables = [each for each in RESOURCES.values() if each["Type"] == "AWS::DynamoDB::Table"]
    assert len(tables) == len(TABLES)
    for table in tables:
        properties = sam.section(table, "Properties")
        assert table["DeletionPolicy"] == table["UpdateReplacePolicy"] == "Retain"
        assert sam.section(properties, "SSESpecification")["SSEEnabled"] is True
        recovery = sam.section(properties, "PointInTimeRecoverySpecification")
        assert recovery["PointInTimeRecoveryEnabled"] is True
        assert properties["DeletionProtectionEnabled"] is True


def variables(properties: JsonObject) -> set[str]:
    """Return the names of a function's own variables."""
    if "Environment" not in properties:
        return set()
    return set(sam.section(properties, "Environment", "Variables"))


def test_settings_are_those_that_the_code_reads() -> None:
    everybodys = sam.section(TEMPLATE, "Globals", "Function", "Environment", "Variables")
    given = set(everybodys).union(*map(variables, FUNCTIONS.values()))
    settings = Settings.of({name: "aws" if name.endswith("STAGE") else "x1" for name in given})
    read = {f"STELLWERK_{name.upper()}" for name in vars(settings)}
    assert given <= read


def test_a_function_says_to_which_group_it_belongs_as_its_role_does() -> None:
    for name, properties in FUNCTIONS.items():
        role = sam.section(properties, "Role")["Fn::GetAtt"]
        assert isinstance(role, list)
        tags = sam.section(RESOURCES[str(role[0])], "Properties").get("Tags", [])
        groups = [{"Key": "group", "Value": group} for group in _group(properties)]
        assert tags == groups, name


def _group(properties: JsonObject) -> list[JsonValue]:
    if "STELLWERK_GROUP" not in variables(properties):
        return []
    return [sam.section(properties, "Environment", "Variables")["STELLWERK_GROUP"]]


def test_150_functions_fit_into_one_stack() -> None:
    events = sum(
        len(sam.section(each, "Events")) for each in FUNCTIONS.values() if "Events" in each
    )
    others = len(RESOURCES) - len(FUNCTIONS)
    per_event = 2  # a rule and a permission
    assert 150 + others + per_event * events < 500


def test_every_right_names_its_actions() -> None:
    granted = [
        action
        for role in Deployment.of().roles.values()
        for statement in role.statements
        if statement.effect == "Allow"
        for action in statement.action
    ]
    assert granted
    assert not [action for action in granted if "*" in action]


def test_the_api_wants_a_token_except_where_nobody_has_one_yet() -> None:
    events = sam.section(FUNCTIONS["Api"], "Events")
    described = [sam.section(events, name, "Properties") for name in events]
    assert {each["Path"]: each.get("Auth") for each in described} == {
        "/api/v1/{proxy+}": None,
        "/api/v1/health": {"Authorizer": "NONE"},
        "/api/v1/openapi.json": {"Authorizer": "NONE"},
        "/hooks/{token}": {"Authorizer": "NONE"},
        "/forms/{token}": {"Authorizer": "NONE"},
        "/tasks/link/{token}": {"Authorizer": "NONE"},
        "/tasks/link": {"Authorizer": "NONE"},
    }
    auth = sam.section(RESOURCES["HttpApi"], "Properties", "Auth")
    assert auth["DefaultAuthorizer"] in sam.section(auth, "Authorizers")
    assert FUNCTIONS["Api"]["Timeout"] == 29


def test_the_editor_runs_no_script_and_no_style_but_its_own() -> None:
    headers = sam.section(
        RESOURCES["EditorHeaders"],
        "Properties",
        "ResponseHeadersPolicyConfig",
        "SecurityHeadersConfig",
        "ContentSecurityPolicy",
    )
    policy = json.dumps(headers)
    assert "unsafe" not in policy
    assert "script-src 'self'\"" in policy
    assert "frame-ancestors 'none'" in policy


def test_buckets_are_closed_and_encrypted() -> None:
    buckets = [each for each in RESOURCES.values() if each["Type"] == "AWS::S3::Bucket"]
    assert len(buckets) == 2
    for bucket in buckets:
        properties = sam.section(bucket, "Properties")
        assert set(sam.section(properties, "PublicAccessBlockConfiguration").values()) == {True}
        assert "BucketEncryption" in properties


def test_the_alarm_about_the_audit_finds_what_the_audit_logs() -> None:
    filters = [each for each in RESOURCES.values() if each["Type"] == "AWS::Logs::MetricFilter"]
    patterns = {str(sam.section(each, "Properties")["FilterPattern"]) for each in filters}
    assert patterns == {'{ $.level = "ERROR" && $.message = "audit failure:*" }'}
    source = inspect.getsource(chain)
    assert source.count('"audit failure: ') == source.count("LOG.exception(") > 0


def test_every_alarm_is_told_and_shown() -> None:
    alarms = {
        name: sam.section(each, "Properties")
        for name, each in RESOURCES.items()
        if each["Type"] == "AWS::CloudWatch::Alarm"
    }
    shown = json.dumps(RESOURCES["Dashboard"])
    assert len(alarms) >= 6
    for name, properties in alarms.items():
        assert properties["AlarmActions"] == [{"Ref": "Alarms"}]
        assert f"${{{name}.Arn}}" in shown
        assert properties["TreatMissingData"] == "notBreaching"
