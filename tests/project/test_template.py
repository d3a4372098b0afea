"""The SAM application agrees with the code, and stays within what CloudFormation takes."""

from __future__ import annotations

import json

import pytest

from stellwerk.aws.tables import TABLES, Table, creation
from stellwerk.config import Settings
from stellwerk.kernel.json import JsonObject
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
    assert sam.section(properties, "TimeToLiveSpecification")["AttributeName"] == table.ttl


def test_tables_survive_mistakes_and_are_encrypted() -> None:
    tables = [each for each in RESOURCES.values() if each["Type"] == "AWS::DynamoDB::Table"]
    assert len(tables) == 3
    for table in tables:
        properties = sam.section(table, "Properties")
        assert table["DeletionPolicy"] == table["UpdateReplacePolicy"] == "Retain"
        assert sam.section(properties, "SSESpecification")["SSEEnabled"] is True
        recovery = sam.section(properties, "PointInTimeRecoverySpecification")
        assert recovery["PointInTimeRecoveryEnabled"] is True


def test_settings_are_those_that_the_code_reads() -> None:
    given = sam.section(TEMPLATE, "Globals", "Function", "Environment", "Variables")
    settings = Settings.of({name: "aws" if name.endswith("STAGE") else "x1" for name in given})
    read = {f"STELLWERK_{name.upper()}" for name in vars(settings)}
    assert set(given) <= read


def test_150_functions_fit_into_one_stack() -> None:
    events = sum(
        len(sam.section(each, "Events")) for each in FUNCTIONS.values() if "Events" in each
    )
    others = len(RESOURCES) - len(FUNCTIONS)
    per_event = 2  # a rule and a permission
    assert 150 + others + per_event * events < 500


def test_no_role_may_do_everything_and_the_audit_is_only_added_to() -> None:
    statements = [
        statement
        for resource in RESOURCES.values()
        if str(resource["Type"]).startswith("AWS::IAM::")
        for statement in _statements(resource)
    ]
    assert statements
    for statement in statements:
        actions = statement["Action"] if isinstance(statement["Action"], list) else []
        assert all("*" not in str(action) for action in [*actions, statement["Action"]])
        if "AuditTable" in json.dumps(statement["Resource"]):
            assert statement["Action"] == "dynamodb:PutItem"


def _statements(resource: JsonObject) -> list[JsonObject]:
    properties = sam.section(resource, "Properties")
    documents = [properties["PolicyDocument"]] if "PolicyDocument" in properties else []
    for policy in json.loads(json.dumps(properties.get("Policies", []))):
        documents.append(policy["PolicyDocument"])
    return [
        each for document in documents for each in json.loads(json.dumps(document))["Statement"]
    ]
