"""The IAM documents of template.yaml, as a deployment called `stellwerk` would have them.

Short forms and references are worked out as CloudFormation does; policy variables stay.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Literal

import yaml
from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, TypeAdapter

from stellwerk.kernel.json import JsonObject, JsonValue

FILE = Path(__file__).parents[1] / "template.yaml"
PREFIX, ACCOUNT, REGION = "stellwerk", "123456789012", "eu-central-1"
_KNOWN = {
    "Prefix": PREFIX,
    "AWS::AccountId": ACCOUNT,
    "AWS::Region": REGION,
    "AWS::Partition": "aws",
    "AWS::URLSuffix": "amazonaws.com",
}
_ARNS = {
    "AWS::DynamoDB::Table": ("TableName", f"arn:aws:dynamodb:{REGION}:{ACCOUNT}:table/"),
    "AWS::Events::EventBus": ("Name", f"arn:aws:events:{REGION}:{ACCOUNT}:event-bus/"),
    "AWS::S3::Bucket": ("BucketName", "arn:aws:s3:::"),
    "AWS::SQS::Queue": ("QueueName", f"arn:aws:sqs:{REGION}:{ACCOUNT}:"),
    "AWS::Logs::LogGroup": ("LogGroupName", f"arn:aws:logs:{REGION}:{ACCOUNT}:log-group:"),
    "AWS::IAM::Role": ("RoleName", f"arn:aws:iam::{ACCOUNT}:role/"),
}
_OBJECT: TypeAdapter[JsonObject] = TypeAdapter(JsonObject)
_OBJECTS: TypeAdapter[list[JsonObject]] = TypeAdapter(list[JsonObject])
_REFERENCE = re.compile(r"\$\{(!?)([\w:./-]+)\}")


def _listed(value: object) -> object:
    return value if isinstance(value, list) else [value]


def _principals(value: object) -> object:
    return {"AWS": value} if isinstance(value, str) else value


Texts = Annotated[tuple[str, ...], BeforeValidator(_listed)]


class Statement(BaseModel):
    """One statement; what this model does not know is an error, not something to pass over."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    sid: str = Field(default="", alias="Sid")
    effect: Literal["Allow", "Deny"] = Field(alias="Effect")
    action: Texts = Field(default=(), alias="Action")
    resource: Texts = Field(default=(), alias="Resource")
    not_resource: Texts = Field(default=(), alias="NotResource")
    not_action: Texts = Field(default=(), alias="NotAction")
    principal: Annotated[Mapping[str, Texts] | None, BeforeValidator(_principals)] = Field(
        default=None, alias="Principal"
    )
    condition: Mapping[str, Mapping[str, Texts]] = Field(default={}, alias="Condition")


class Document(BaseModel):
    """A policy."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    version: Literal["2012-10-17"] = Field(alias="Version")
    statements: tuple[Statement, ...] = Field(alias="Statement")


@dataclass(frozen=True)
class Role:
    """A role as deployed."""

    name: str
    """Its logical id."""
    arn: str
    description: str
    tags: Mapping[str, str]
    trust: Document
    policies: tuple[Document, ...]

    @property
    def statements(self) -> Iterator[Statement]:
        """All that its policies say."""
        for policy in self.policies:
            yield from policy.statements


class Deployment:
    """The resources of the template, loops left aside: none of them makes a policy."""

    def __init__(self, resources: Mapping[str, JsonObject]) -> None:
        self._resources = resources

    @classmethod
    def of(cls, file: Path = FILE) -> Deployment:
        """Return what the template declares."""
        found = _OBJECT.validate_python(written(file)["Resources"])
        single = {key: value for key, value in found.items() if not key.startswith("Fn::")}
        return cls({key: _OBJECT.validate_python(value) for key, value in single.items()})

    @property
    def roles(self) -> Mapping[str, Role]:
        """All roles by logical id."""
        return {key: self._role(key) for key in self._of("AWS::IAM::Role")}

    def managed(self, key: str) -> Document:
        """Return the document of a managed policy."""
        return Document.model_validate(self._property(key, "PolicyDocument"))

    @property
    def on_resources(self) -> Mapping[str, Document]:
        """Policies that lie with what they protect, by its ARN."""
        tables = [key for key in self._of("AWS::DynamoDB::Table") if self._has(key)]
        found = {self.arn(key): self._property(key, "ResourcePolicy") for key in tables}
        documents = {arn: _OBJECT.validate_python(each) for arn, each in found.items()}
        policies = {arn: each["PolicyDocument"] for arn, each in documents.items()}
        for key in self._of("AWS::S3::BucketPolicy"):
            bucket = f"arn:aws:s3:::{self._property(key, 'Bucket')}"
            policies[bucket] = self._property(key, "PolicyDocument")
        return {arn: Document.model_validate(each) for arn, each in policies.items()}

    def arn(self, key: str) -> str:
        """Return the ARN of a resource."""
        kind = str(self._resources[key]["Type"])
        named, begin = _ARNS[kind]
        properties = _OBJECT.validate_python(self._resources[key].get("Properties", {}))
        name = str(self.resolved(properties[named])) if named in properties else f"{PREFIX}-{key}"
        return begin + name + (":*" if kind == "AWS::Logs::LogGroup" else "")

    def resolved(self, value: JsonValue) -> JsonValue:
        """Return a value with its references worked out."""
        if isinstance(value, list):
            return [self.resolved(each) for each in value]
        if not isinstance(value, dict):
            return value
        if len(value) == 1:
            ((name, argument),) = value.items()
            if name == "Ref":
                return self._referred(str(argument))
            if name == "Fn::GetAtt" and isinstance(argument, list):
                return self._referred(".".join(map(str, argument)))
            if name == "Fn::Sub":
                return _REFERENCE.sub(self._substituted, str(argument))
        return {name: self.resolved(each) for name, each in value.items()}

    def _role(self, key: str) -> Role:
        properties = _OBJECT.validate_python(
            self.resolved(self._resources[key].get("Properties", {}))
        )
        inline = _OBJECTS.validate_python(properties.get("Policies", []))
        managed = TypeAdapter(list[str]).validate_python(properties.get("ManagedPolicyArns", []))
        tags = _OBJECTS.validate_python(properties.get("Tags", []))
        documents = [Document.model_validate(each["PolicyDocument"]) for each in inline]
        return Role(
            name=key,
            arn=self.arn(key),
            description=str(properties["Description"]),
            tags={str(tag["Key"]): str(tag["Value"]) for tag in tags},
            trust=Document.model_validate(properties["AssumeRolePolicyDocument"]),
            policies=(*documents, *map(self.managed, managed)),
        )

    def _of(self, kind: str) -> list[str]:
        return [key for key, each in self._resources.items() if each["Type"] == kind]

    def _has(self, key: str) -> bool:
        return "ResourcePolicy" in _OBJECT.validate_python(self._resources[key]["Properties"])

    def _property(self, key: str, name: str) -> JsonValue:
        properties = _OBJECT.validate_python(self._resources[key]["Properties"])
        return self.resolved(properties[name])

    def _referred(self, name: str) -> str:
        if name in _KNOWN:
            return _KNOWN[name]
        key, _, attribute = name.partition(".")
        if attribute == "Arn":
            return self.arn(key)
        if self._resources[key]["Type"] in _ARNS:
            return self.arn(key).rsplit(":", 1)[-1]
        return key

    def _substituted(self, found: re.Match[str]) -> str:
        literal, name = found.groups()
        return f"${{{name}}}" if literal else self._referred(name)


def written(file: Path = FILE) -> JsonObject:
    """Return the template as written, its short forms written out."""
    return _OBJECT.validate_python(yaml.load(file.read_text(encoding="utf-8"), _Loader))


class _Loader(yaml.SafeLoader):
    """Reads YAML in which `!Sub x` stands for `{"Fn::Sub": x}`."""


def _short_form(loader: _Loader, name: str, node: yaml.Node) -> object:
    value: object
    if isinstance(node, yaml.MappingNode):
        value = loader.construct_mapping(node, deep=True)
    elif isinstance(node, yaml.SequenceNode):
        value = loader.construct_sequence(node, deep=True)
    else:
        value = str(node.value)
    if name == "GetAtt":
        return {"Fn::GetAtt": str(value).split(".")}
    return {name if name == "Ref" else f"Fn::{name}": value}


yaml.add_multi_constructor("!", _short_form, Loader=_Loader)
