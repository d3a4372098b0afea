"""The settings of a deployment, read from `STELLWERK_*` variables here and nowhere else."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Literal, cast

from stellwerk.kernel.errors import BadInput

Stage = Literal["local", "test", "aws"]
LOCAL_ISSUER = "http://127.0.0.1:8400/oidc"
MICROSOFT_LOGIN = "https://login.microsoftonline.com"
MICROSOFT_GRAPH = "https://graph.microsoft.com/v1.0"
LOCAL_REDIRECT = "http://localhost:8401/connected"
_STAGES = ("local", "test", "aws")


@dataclass(frozen=True)
class Settings:
    """Where things are. Two deployments differ in nothing else.

    Each is read from `STELLWERK_<NAME>`; what the prefix, region and account imply need not be set.
    """

    stage: Stage
    prefix: str
    """Begins the name of every resource of the deployment."""
    region: str
    account: str
    platform_table: str
    runs_table: str
    audit_table: str
    bucket: str
    bus: str
    """The bus on which events are told."""
    states_role: str
    """ARN of the role under which state machines act."""
    tenant_role: str
    """ARN of the role `tenant-data`, assumed per mandate; "": data is reached as the process is."""
    group: str
    """Which Lambdas this process belongs to: `nodes`, `actions`, `system` or `api`."""
    endpoint_url: str | None
    """Where AWS is, if not at AWS."""
    data: Path
    """Folder of the local cloud."""
    http_allow: tuple[str, ...]
    """`host:port` that `http.request` may call although the address is private."""
    microsoft_login: str
    """Where Microsoft asks for consent and issues tokens."""
    microsoft_graph: str
    """Where Microsoft Graph is, with its version."""
    microsoft_client: str
    """The id of this installation's application at Microsoft; "": it has none."""
    redirects: tuple[str, ...]
    """Addresses to which people may be sent back after they have consented."""
    issuer: str
    """Whose access tokens the API takes: the `iss` of each, below which its keys are found."""
    clients: tuple[str, ...]
    """Ids of the clients whose tokens the API takes; none given: any client of the issuer."""
    rate_limit: int
    """Requests to the API that a principal may make in a minute; 0: any number."""
    smtp: str
    """`host:port` of the server that takes mails; "": on AWS it is SES."""
    mail_from: str
    """From whom mails are; "": none are sent."""
    editor: str
    """Where people open the editor, for links in messages."""
    hook_rate: int
    """Deliveries that the address of a trigger takes in a minute; 0: any number."""

    @classmethod
    def of(cls, environment: Mapping[str, str]) -> Settings:
        """Return the settings in `environment`; raises BadInput naming all variables at fault."""
        read = _Reader(environment)
        prefix = read.text("PREFIX", "stellwerk", longest=20)
        account = read.text("ACCOUNT", "123456789012", longest=12)
        region = read.text("REGION", environment.get("AWS_REGION", "eu-central-1"))
        role = f"arn:aws:iam::{account}:role/{prefix}-states"
        settings = cls(
            stage=cast("Stage", read.choice("STAGE", "local", _STAGES)),
            prefix=prefix,
            region=region,
            account=account,
            platform_table=read.text("PLATFORM_TABLE", f"{prefix}-platform"),
            runs_table=read.text("RUNS_TABLE", f"{prefix}-runs"),
            audit_table=read.text("AUDIT_TABLE", f"{prefix}-audit"),
            bucket=read.text("BUCKET", f"{prefix}-{account}-{region}"),
            bus=read.text("BUS", prefix),
            states_role=read.text("STATES_ROLE", role),
            tenant_role=environment.get("STELLWERK_TENANT_ROLE", "").strip(),
            group=read.text("GROUP", "local"),
            endpoint_url=environment.get("STELLWERK_ENDPOINT_URL") or None,
            data=Path(read.text("DATA", ".stellwerk")),
            http_allow=read.list("HTTP_ALLOW"),
            microsoft_login=read.text("MICROSOFT_LOGIN", MICROSOFT_LOGIN).rstrip("/"),
            microsoft_graph=read.text("MICROSOFT_GRAPH", MICROSOFT_GRAPH).rstrip("/"),
            microsoft_client=environment.get("STELLWERK_MICROSOFT_CLIENT", "").strip(),
            redirects=read.list("REDIRECTS") or (LOCAL_REDIRECT,),
            issuer=read.text("ISSUER", LOCAL_ISSUER).rstrip("/"),
            clients=read.list("CLIENTS"),
            rate_limit=read.number("RATE_LIMIT", 600),
            smtp=environment.get("STELLWERK_SMTP", "").strip(),
            mail_from=environment.get("STELLWERK_MAIL_FROM", "").strip(),
            editor=environment.get("STELLWERK_EDITOR", "").strip(),
            hook_rate=read.number("HOOK_RATE", 6000),
        )
        read.check()
        return settings

    @classmethod
    def from_environment(cls) -> Settings:
        """Return the settings of this process."""
        return cls.of(os.environ)


class _Reader:
    """Reads variables and collects what is wrong with them."""

    def __init__(self, environment: Mapping[str, str]) -> None:
        self._environment = environment
        self._faults: list[str] = []

    def text(self, name: str, default: str, *, longest: int = 2048) -> str:
        value = self._environment.get(f"STELLWERK_{name}", default).strip()
        if not 0 < len(value) <= longest:
            self._faults.append(f"STELLWERK_{name} must have 1 to {longest} characters: '{value}'")
        return value

    def choice(self, name: str, default: str, choices: tuple[str, ...]) -> str:
        value = self.text(name, default)
        if value not in choices:
            named = ", ".join(choices)
            self._faults.append(f"STELLWERK_{name} must be one of {named}, not '{value}'")
        return value

    def number(self, name: str, default: int) -> int:
        value = self.text(name, str(default), longest=9)
        if value.isascii() and value.isdigit():
            return int(value)
        self._faults.append(f"STELLWERK_{name} must be a whole number, not '{value}'")
        return default

    def list(self, name: str) -> tuple[str, ...]:
        parts = self._environment.get(f"STELLWERK_{name}", "").split(",")
        return tuple(part.strip() for part in parts if part.strip())

    def check(self) -> None:
        if self._faults:
            raise BadInput("; ".join(self._faults), remedy="Set these variables, or remove them.")
