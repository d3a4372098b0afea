"""Members, roles and their rules, machines, and explanations."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import datetime
from typing import Annotated, Literal

from pydantic import ConfigDict, Field

from api.models.base import Asked, Body, Label, Moment, PageOf, Shown
from stellwerk.kernel.ids import RoleId
from stellwerk.kernel.json import Flag, JsonObject
from stellwerk.tenancy import access, explain, members, model
from stellwerk.tenancy.access import AccessRule, Context, Level

RoleName = Annotated[RoleId, Field(pattern=r"^[A-Za-z0-9_-]{1,64}$")]
RoleIds = Annotated[list[RoleName], Field(max_length=50)]
Name = Annotated[Label, Field(max_length=120)]
ContextName = Literal["UI", "RESOURCE", "DATA"]
VerbName = Literal["view", "read", "create", "update", "delete"]
LevelName = Literal["none", "my", "instance", "all"]


class Member(Shown):
    """Someone who belongs to a place."""

    model_config = ConfigDict(
        json_schema_extra={
            "example": {
                "user": "u-demo-user",
                "kind": "person",
                "name": "Ben Kurz",
                "email": "ben@muster.example",
                "signed_in": True,
                "roles": ["m-demo-user"],
                "active": True,
                "etag": '"1"',
            }
        }
    )

    user: str
    kind: Literal["person", "machine"]
    name: str
    email: str
    signed_in: bool = Field(description="Whether the person has ever come in")
    roles: list[str] = Field(description="Ids of roles of this place")
    active: bool
    etag: str = Field(description="For If-Match, as in the header ETag")

    @classmethod
    def of(cls, member: members.Member) -> Member:
        """Show a member."""
        return cls(
            user=member.user,
            kind="machine" if member.kind == "machine" else "person",
            name=member.name,
            email=member.email,
            signed_in=member.signed_in,
            roles=list(member.roles),
            active=member.active,
            etag=f'"{member.revision}"',
        )


class MemberPage(PageOf[Member]):
    """A page of members, by user."""


class NewMember(Body):
    """Whom to add."""

    model_config = ConfigDict(
        json_schema_extra={"example": {"who": "eva@beispiel.example", "name": "Eva", "roles": []}}
    )

    who: Annotated[str, Field(min_length=1, max_length=254)] = Field(
        description="Id of a user, or the address of a person, who is invited if need be"
    )
    name: Name | None = Field(default=None, description="Of a person who is not known yet")
    roles: RoleIds = Field(default=[], description="Ids of roles of this place")


class MemberRoles(Body):
    """Exactly these roles."""

    model_config = ConfigDict(json_schema_extra={"example": {"roles": ["m-demo-user"]}})

    roles: RoleIds


class Rule(Asked):
    """What a role says about an item: `ui.x.editor`, all that begins like `ui.x.*`, or `*`."""

    model_config = ConfigDict(
        json_schema_extra={
            "example": {
                "context": "DATA",
                "item": "data.feature.graphicalEditor.runs",
                "view": True,
                "read": "instance",
                "create": "my",
                "update": "my",
                "delete": "none",
            }
        }
    )

    context: ContextName
    item: str = Field(default="*", min_length=1, max_length=200)
    view: Flag = False
    read: LevelName = "none"
    create: LevelName = "none"
    update: LevelName = "none"
    delete: LevelName = "none"

    @classmethod
    def of(cls, rule: AccessRule) -> Rule:
        """Show a rule."""
        return cls.model_validate(rule.model_dump(mode="json"))

    @property
    def rule(self) -> AccessRule:
        """The rule, as the service takes it."""
        return AccessRule(
            context=Context(self.context),
            item=self.item,
            view=self.view,
            read=Level(self.read),
            create=Level(self.create),
            update=Level(self.update),
            delete=Level(self.delete),
        )


RuleList = Annotated[list[Rule], Field(max_length=200)]
_ROLE: JsonObject = {
    "id": "r-01kb2c3d4e5f6g7h8j9k0m1n2p",
    "label": "finance",
    "description": "Sees runs and decides about payments.",
    "instance": "i-demo",
    "feature": "graphicalEditor",
    "is_system_role": False,
    "template": None,
    "rules": [{"context": "DATA", "item": "data.feature.graphicalEditor.runs", "read": "instance"}],
    "etag": '"1"',
}


class Role(Shown):
    """Rules under a name."""

    model_config = ConfigDict(json_schema_extra={"example": _ROLE})

    id: str
    label: str
    description: str
    instance: str | None = Field(description="Null: it is a role of the mandate")
    feature: str | None
    is_system_role: bool
    template: str | None = Field(description="The template of which it is a copy")
    rules: list[Rule]
    etag: str = Field(description="For If-Match, as in the header ETag")

    @classmethod
    def of(cls, role: model.Role) -> Role:
        """Show a role."""
        return cls(
            id=role.id,
            label=role.label,
            description=role.description,
            instance=role.instance,
            feature=role.feature,
            is_system_role=role.is_system_role,
            template=role.template,
            rules=[Rule.of(rule) for rule in role.rules],
            etag=f'"{role.revision}"',
        )


class Roles(Shown):
    """All roles of a place, by id."""

    items: list[Role]


class Rules(Shown):
    """The rules of a role."""

    rules: list[Rule]

    @classmethod
    def of(cls, role: model.Role) -> Rules:
        """Show a role's rules."""
        return cls(rules=[Rule.of(rule) for rule in role.rules])


class NewRole(Body):
    """A role to create."""

    model_config = ConfigDict(
        json_schema_extra={"example": {"label": "finance", "description": "", "rules": []}}
    )

    label: Name
    description: str = Field(default="", max_length=1000)
    rules: RuleList = Field(default=[])


class RoleChanges(Body):
    """What is not given stays as it is."""

    model_config = ConfigDict(json_schema_extra={"example": {"label": "finance"}})

    label: Name | None = None
    description: str | None = Field(default=None, max_length=1000)
    rules: RuleList | None = None


class NewRules(Body):
    """All rules of a role, in place of those before."""

    model_config = ConfigDict(
        json_schema_extra={"example": {"rules": [{"context": "UI", "item": "*", "view": True}]}}
    )

    rules: RuleList


def rules_of(asked: Iterable[Rule] | None) -> tuple[AccessRule, ...] | None:
    """Return rules as the service takes them."""
    return None if asked is None else tuple(rule.rule for rule in asked)


_CLIENT: JsonObject = {
    "id": "c-01kb2c3d4e5f6g7h8j9k0m1n2p",
    "client_id": "c-01kb2c3d4e5f6g7h8j9k0m1n2p",
    "name": "Nightly import",
    "active": True,
    "expires": "2027-12-01T00:00:00Z",
    "created": "2026-12-01T08:15:00Z",
}


class Client(Shown):
    """A machine that signs in with client credentials."""

    model_config = ConfigDict(json_schema_extra={"example": _CLIENT})

    id: str
    client_id: str = Field(description="With which it signs in")
    name: str
    active: bool
    expires: datetime | None
    created: datetime

    @classmethod
    def of(cls, client: model.User) -> Client:
        """Show a machine."""
        return cls(
            id=client.id,
            client_id=client.subject,
            name=client.name,
            active=client.active,
            expires=client.expires,
            created=client.created,
        )


class ClientWithSecret(Client):
    """A machine with the secret that is shown this once."""

    model_config = ConfigDict(
        json_schema_extra={"example": {**_CLIENT, "secret": "what is shown this once"}}
    )

    secret: str | None = Field(description="Null where the request is repeated: it is not kept")

    @classmethod
    def with_secret(cls, client: model.User, secret: str) -> ClientWithSecret:
        """Show a machine with its new secret."""
        return cls(**dict(Client.of(client)), secret=secret)


class ClientPage(PageOf[Client]):
    """A page of machines, the oldest first."""


class NewClient(Body):
    """A machine to create."""

    model_config = ConfigDict(
        json_schema_extra={"example": {"name": "Nightly import", "roles": []}}
    )

    name: Name
    roles: RoleIds = Field(default=[], description="Ids of roles of the mandate")
    expires: Moment | None = None


class Considered(Shown):
    """A role that was considered, and what it says."""

    priority: Literal["global", "mandate", "instance"]
    role: str
    label: str
    rule: Rule | None = Field(description="Its closest rule that matches")
    level: LevelName
    counts: bool = Field(description="Whether its priority decides")


class Explanation(Shown):
    """A decision, and all roles that were considered."""

    allowed: bool
    level: LevelName
    reason: str = Field(examples=["instance role 'graphicalEditor-user' grants 'read' on ..."])
    role: str
    rule: Rule | None
    roles: list[Considered]

    @classmethod
    def of(cls, found: explain.Explanation) -> Explanation:
        """Show a decision."""
        made = found.decision
        return cls(
            allowed=made.allowed,
            level=made.level.value,
            reason=made.reason,
            role=made.role,
            rule=Rule.of(made.rule) if made.rule else None,
            roles=[_considered(one) for one in found.roles],
        )


def _considered(one: explain.Considered) -> Considered:
    return Considered(
        priority=_PRIORITIES[one.priority],
        role=one.role,
        label=one.label,
        rule=Rule.of(one.rule) if one.rule else None,
        level=one.level.value,
        counts=one.counts,
    )


_PRIORITIES: dict[access.Priority, Literal["global", "mandate", "instance"]] = {
    access.Priority.GLOBAL: "global",
    access.Priority.MANDATE: "mandate",
    access.Priority.INSTANCE: "instance",
}
