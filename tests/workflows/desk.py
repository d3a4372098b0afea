"""The service of workflows over stores in memory, and people with roles who use it."""

from __future__ import annotations

from dataclasses import dataclass, field

from stellwerk.kernel.ids import InstanceId, MandateId, NodeKey, RoleId, UserId
from stellwerk.kernel.json import JsonValue
from stellwerk.tenancy.access import AccessRule, Context, Grant, Level, Principal, Priority
from stellwerk.tenancy.chain import ChainedAudit
from stellwerk.tenancy.evidence import AuditRecord
from stellwerk.tenancy.scope import Scope, of_principal
from stellwerk.workflows.graph import Edge, Graph, Node
from stellwerk.workflows.press import Press
from stellwerk.workflows.service import WorkflowService
from tests.contracts.stores import Stores, in_memory
from tests.fakes.audit import FakeAuditLog
from tests.fakes.catalogue import FakeCatalogue
from tests.fakes.clock import FixedClock
from tests.fakes.compiler import FakeThings, PaperCompiler
from tests.fakes.versions import FakeMachines

MANDATE, INSTANCE, NEIGHBOUR = MandateId("m-one"), InstanceId("i-one"), InstanceId("i-two")
FEATURE = "graphicalEditor"
_ITEMS = f"data.feature.{FEATURE}"


def rule(item: str, level: Level, **verbs: Level) -> AccessRule:
    """Return a rule that grants `level` for all verbs but those that are named."""
    levels = dict.fromkeys(("read", "create", "update", "delete"), level) | verbs
    entries: dict[str, JsonValue] = {name: str(value) for name, value in levels.items()}
    return AccessRule.model_validate({"context": "DATA", "item": item, "view": True, **entries})


def operation(name: str = "*") -> AccessRule:
    item = f"resource.feature.{FEATURE}.{name}"
    return AccessRule(context=Context.RESOURCE, item=item, view=True)


ADMIN = (rule("*", Level.ALL), operation())
USER = (rule(f"{_ITEMS}.*", Level.MY), operation("publish"), operation("execute"))
READER = (rule(f"{_ITEMS}.*", Level.NONE, read=Level.INSTANCE),)
EDITOR = (rule(f"{_ITEMS}.*", Level.INSTANCE),)


def person(
    user: str,
    rules: tuple[AccessRule, ...] = ADMIN,
    *,
    instance: InstanceId = INSTANCE,
    mandate: MandateId = MANDATE,
    label: str = "role",
) -> Scope:
    """Return the scope of someone with one role in one instance."""
    grant = Grant(Priority.INSTANCE, RoleId("r"), label, rules)
    principal = Principal(UserId(user), (grant,))
    return of_principal(principal, mandate, instance, feature=FEATURE, request="q-1")


ANNA = person("u-anna")
BEN = person("u-ben", USER)
CARA = person("u-cara", READER)
DORA = person("u-dora", EDITOR)
NOBODY = person("u-nobody", ())
NEXT_DOOR = person("u-anna", instance=NEIGHBOUR)
ABROAD = person("u-anna", mandate=MandateId("m-two"))


def drawn(value: JsonValue = 1, *, title: str = "", **names: str) -> Graph:
    """Return a graph of a trigger and a node that holds `value`, and names things by kind."""
    parameters: dict[str, JsonValue] = {"value": value}
    if names:
        parameters["names"] = {**names}
    return Graph(
        title=title,
        nodes=(
            Node(key=NodeKey("start"), type="trigger.manual", title=title),
            Node(key=NodeKey("work"), type="data.set", parameters=parameters),
        ),
        edges=(Edge(source=NodeKey("start"), target=NodeKey("work")),),
    )


@dataclass
class Desk:
    """The service and what it works with."""

    stores: Stores = field(default_factory=in_memory)
    clock: FixedClock = field(default_factory=FixedClock)
    machines: FakeMachines = field(default_factory=FakeMachines)
    compiler: PaperCompiler = field(default_factory=PaperCompiler)
    log: FakeAuditLog = field(default_factory=FakeAuditLog)

    def __post_init__(self) -> None:
        self.press = Press(
            versions=self.stores.versions,
            machines=self.machines,
            values=self.stores.values,
            catalogue=FakeCatalogue(),
            compiler=self.compiler,
            clock=self.clock,
            prefix="stellwerk",
            audit=ChainedAudit(self.log, self.clock),
            things={
                "user": FakeThings((ANNA, "u-ben"), (ANNA, "u-anna"), (ABROAD, "u-zoe")),
                "file": FakeThings((ANNA, "f-1"), (NEXT_DOOR, "f-2")),
            },
        )
        self.service = WorkflowService(self.press)

    def acts(self) -> list[tuple[str, str, str]]:
        """Return what was audited and how it ended: action, object, outcome."""
        return [
            (record.action, record.object, str(record.outcome))
            for record in self.audited()
            if record.begun is not None or str(record.outcome) not in {"begun", "done", "failed"}
        ]

    def audited(self) -> list[AuditRecord]:
        return self.log.all(MANDATE)
