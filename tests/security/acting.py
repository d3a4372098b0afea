"""Who asks and what is asked, by short names, on the documents of a deployment."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from scripts.policies import ACCOUNT, PREFIX, REGION, Document, Role
from tests.security.simulator import Principal, Request, allowed, trusts

GROUPS = {"nodes": "NodeRole", "actions": "ActionRole", "system": "SystemRole", "api": "ApiRole"}
ROLES = {
    **GROUPS,
    "identity": "IdentityRole",
    "states": "StatesRole",
    "scheduler": "SchedulerRole",
}
TENANT_DATA = "TenantDataRole"
OWN, FOREIGN = "m-demo", "m-nord"
_ITEM = ("pk", "sk", "body", "revision")
_VALUES = ("pk", "sk", "write", "value", "value_ref", "sums")
KEYS: Mapping[str, tuple[str, ...]] = {
    "own": (f"{OWN}#i#run#1",),
    "values": (f"{OWN}#i#workflow#1",),
    "values:foreign": (f"{FOREIGN}#i#workflow#1",),
    "foreign": (f"{FOREIGN}#i#run#1",),
    "alike": (f"{OWN}2#i#run#1",),
    "mixed": (f"{OWN}#i#run#1", f"{FOREIGN}#i#run#1"),
    "inbox": (f"{OWN}#i#inbox#1",),
    "inbox:foreign": (f"{FOREIGN}#i#inbox#1",),
    "member": (f"{OWN}##members", "system##user#u"),
    "listed": (f"{OWN}##mandate", "system##mandates"),
    "user": ("system##user#u",),
    "mandates": ("system##mandates",),
    "sweep": ("system##sweep",),
    "mailbox": (f"{OWN}#i#mailbox#1",),
    "mailbox:foreign": (f"{FOREIGN}#i#mailbox#1",),
    "watched": (f"{OWN}#i#mailbox#1", "system##mailboxes"),
    "mailboxes": ("system##mailboxes",),
    "connections": (f"{OWN}#i#connections",),
    "renewal": (f"{OWN}#i#renewal#1",),
    "subject": ("system##subject#1",),
    "audit": ("system#audit#2026-11-02",),
    "none": (),
    "stream": (),
}
"""Leading keys of a request to DynamoDB, by what they are of."""


def _arn(service: str, name: str) -> str:
    return f"arn:aws:{service}:{REGION}:{ACCOUNT}:{name}"


_BUCKET = f"arn:aws:s3:::{PREFIX}-{ACCOUNT}-{REGION}"
RESOURCES: Mapping[str, str] = {
    **{name: _arn("dynamodb", f"table/{PREFIX}-{name}") for name in ("platform", "runs", "audit")},
    **{
        f"{name}/index": _arn("dynamodb", f"table/{PREFIX}-{name}/index/by_it")
        for name in ("platform", "runs", "audit")
    },
    "elsewhere": _arn("dynamodb", "table/other-platform"),
    "stream": _arn("dynamodb", f"table/{PREFIX}-runs/stream/2026-12-01T00:00:00.000"),
    "stream:other": _arn("dynamodb", f"table/{PREFIX}-platform/stream/2026-12-01T00:00:00.000"),
    "bucket": _BUCKET,
    "object:own": f"{_BUCKET}/{OWN}/i/runs/1",
    "object:foreign": f"{_BUCKET}/{FOREIGN}/i/runs/1",
    "object:alike": f"{_BUCKET}/{OWN}2/i/runs/1",
    "object:system": f"{_BUCKET}/system//runs/1",
    "editor": f"arn:aws:s3:::{PREFIX}-editor-{ACCOUNT}-{REGION}/index.html",
    "secret:own": _arn("secretsmanager", f"secret:{PREFIX}/{OWN}/c1-AbCdEf"),
    "secret:foreign": _arn("secretsmanager", f"secret:{PREFIX}/{FOREIGN}/c1-AbCdEf"),
    "secret:alike": _arn("secretsmanager", f"secret:{PREFIX}/{OWN}2/c1-AbCdEf"),
    "secret:other": _arn("secretsmanager", "secret:other-AbCdEf"),
    "machine": _arn("states", f"stateMachine:{OWN}-approve-v1-12345678"),
    "machine:other": _arn("states", "stateMachine:payroll"),
    "execution": _arn("states", f"execution:{OWN}-approve-v1-12345678:r1"),
    "execution:other": _arn("states", "execution:payroll:r1"),
    "token": "*",
    "trace": "*",
    **{
        f"log:{name}": _arn("logs", f"log-group:/{PREFIX}/{name}:log-stream:1")
        for name in ("nodes", "actions", "system", "api", "identity")
    },
    "queue": _arn("sqs", f"{PREFIX}-undelivered"),
    "queue:other": _arn("sqs", "other"),
    "lambda": _arn("lambda", f"function:{PREFIX}-data-set"),
    "lambda:gate": _arn("lambda", f"function:{PREFIX}-system-gate"),
    "lambda:api": _arn("lambda", f"function:{PREFIX}-api"),
    "lambda:sweeper": _arn("lambda", f"function:{PREFIX}-system-sweeper"),
    "lambda:ended": _arn("lambda", f"function:{PREFIX}-system-run_finished"),
    "lambda:notices": _arn("lambda", f"function:{PREFIX}-system-notices"),
    "sender": _arn("ses", "identity/stellwerk@example.com"),
    "lambda:events": _arn("lambda", f"function:{PREFIX}-system-run_events"),
    "lambda:claims": _arn("lambda", f"function:{PREFIX}-system-token_claims"),
    "lambda:due": _arn("lambda", f"function:{PREFIX}-triggers-schedule"),
    "lambda:look": _arn("lambda", f"function:{PREFIX}-triggers-schedule_look"),
    "lambda:other": _arn("lambda", "function:payroll"),
    "role:states": f"arn:aws:iam::{ACCOUNT}:role/{PREFIX}-states",
    "role:scheduler": f"arn:aws:iam::{ACCOUNT}:role/{PREFIX}-scheduler",
    "schedule": _arn("scheduler", f"schedule/{PREFIX}-07/s1"),
    "schedule:other": _arn("scheduler", "schedule/payroll-07/s1"),
    "schedules": _arn("scheduler", f"schedule-group/{PREFIX}-07"),
    "schedules:other": _arn("scheduler", "schedule-group/payroll"),
    "schedules:all": "*",
    "role:tenant-data": f"arn:aws:iam::{ACCOUNT}:role/{PREFIX}-tenant-data",
    "role:other": f"arn:aws:iam::{ACCOUNT}:role/administrator",
    "bus": _arn("events", f"event-bus/{PREFIX}"),
    "bus:other": _arn("events", "event-bus/default"),
    "lambda:told": _arn("lambda", f"function:{PREFIX}-triggers-event"),
    "pool": _arn("cognito-idp", "userpool/eu-central-1_1"),
}
EVERYTHING = Document.model_validate(
    {
        "Version": "2012-10-17",
        "Statement": [{"Effect": "Allow", "Action": "*", "Resource": "*"}],
    }
)
"""What someone could attach by mistake: refusals hold all the same."""


@dataclass(frozen=True)
class World:
    """The roles, and the policies that lie with resources."""

    roles: Mapping[str, Role]
    on_resources: Mapping[str, Document]

    def principal(self, name: str) -> Principal:
        """Return a role, its session for m-demo (`nodes@`), or either with all rights (`!`)."""
        plain = name.strip("!@")
        role = self.roles[ROLES[plain]]
        tags = dict(role.tags)
        if "@" in name:
            tags = {"mandate": OWN, "group": role.tags["group"]}
            role = self.roles[TENANT_DATA]
        more = (EVERYTHING,) if name.startswith("!") else ()
        return Principal(role.arn, (*role.policies, *more), tags)

    def may(self, name: str, request: Request) -> bool:
        """Whether the principal of that name may do it."""
        return allowed(self.principal(name), request, self.policies_at(request.resource))

    def policies_at(self, arn: str) -> Sequence[Document]:
        """Return the policies that lie with a resource, or with the bucket of an object."""
        return [
            document
            for protected, document in self.on_resources.items()
            if arn == protected or arn.startswith(f"{protected}/")
        ]

    def assumes(self, who: Principal, tags: Mapping[str, str]) -> bool:
        """Whether `who` may assume tenant-data with these session tags."""
        role = self.roles[TENANT_DATA]
        context: dict[str, tuple[str, ...]] = {
            f"aws:RequestTag/{name}": (value,) for name, value in tags.items()
        }
        context |= {"aws:TagKeys": tuple(tags)} if tags else {}
        asked = [Request(f"sts:{name}", role.arn, context) for name in ("AssumeRole", "TagSession")]
        return all(allowed(who, each) and trusts(role.trust, who, each) for each in asked)


@dataclass(frozen=True)
class Row:
    """A line of the table."""

    who: str
    action: str
    resource: str
    keys: str
    may: bool

    @property
    def request(self) -> Request:
        """What is asked."""
        return Request(self.action, RESOURCES[self.resource], self._context)

    @property
    def _context(self) -> Mapping[str, tuple[str, ...]]:
        if self.action == "iam:PassRole":
            return {"iam:PassedToService": (self.keys,)}
        if self.action.startswith("s3:"):
            return {"aws:SecureTransport": ("false" if self.keys == "plain" else "true",)}
        if not self.action.startswith("dynamodb:"):
            return {}
        keys = {"dynamodb:LeadingKeys": KEYS[self.keys]} if KEYS[self.keys] else {}
        attributes = _VALUES if self.keys.startswith("values") else _ITEM
        return {**keys, "dynamodb:Attributes": attributes}

    def __str__(self) -> str:
        """Say it in a line."""
        return f"{self.who} {self.action} {self.resource} {self.keys}"


def rows(table: str) -> Iterator[Row]:
    """Yield a row for each who, action, place and key of each line of the table."""
    for line in filter(None, map(str.strip, table.splitlines())):
        if line.startswith("#"):
            continue
        who, service, actions, places, keys, answer = map(str.strip, line.split("|"))
        for name in who.split():
            for action in actions.split():
                for place in places.split():
                    for key in keys.split():
                        yield Row(name, f"{service}:{action}", place, key, _ANSWERS[answer])


def wrong(world: World, table: Sequence[Row]) -> Iterator[Row]:
    """Yield the rows that the documents answer otherwise."""
    return (row for row in table if world.may(row.who, row.request) is not row.may)


_ANSWERS = {"yes": True, "no": False}
