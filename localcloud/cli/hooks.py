"""`hooks`: the web addresses of a workflow's webhooks and forms, and what their callers prove."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, Protocol, cast

import typer

from localcloud.cli.connection import Connection, connected
from localcloud.cli.listing import Column, Fit, Listing
from localcloud.cli.output import AsJson, Output, command
from stellwerk.bootstrap import Services
from stellwerk.kernel.errors import BadInput
from stellwerk.kernel.ids import NodeKey, WorkflowId
from stellwerk.kernel.json import JsonObject
from stellwerk.tenancy.scope import Scope

if TYPE_CHECKING:
    from stellwerk.triggers.hookdesk import HookDesk
    from stellwerk.triggers.hooks import Hook

app = typer.Typer()


class Shelf(Protocol):
    """The hooks of an instance, as they are shown."""

    def list(self, workflow: str) -> Sequence[JsonObject]:
        """Return the hooks of a workflow."""

    def rotate(self, workflow: str, node: str) -> JsonObject:
        """Give a node another address."""

    def set_secret(self, workflow: str, node: str, secret: str) -> None:
        """Set what callers of a node prove themselves with."""


class _Remote(Protocol):
    """The services at an API, as seen from here."""

    hooks: Shelf


@dataclass(frozen=True)
class LocalShelf:
    """Those of a local cloud; addresses are paths where its API is not known."""

    desk: HookDesk
    scope: Scope
    base: str = ""

    def list(self, workflow: str) -> Sequence[JsonObject]:
        """Return the hooks of a workflow."""
        found = self.desk.list(self.scope, WorkflowId(workflow))
        return [self._view(hook, has_secret=secret) for hook, secret in found]

    def rotate(self, workflow: str, node: str) -> JsonObject:
        """Give a node another address."""
        hook, secret = self.desk.rotate(self.scope, WorkflowId(workflow), NodeKey(node))
        return self._view(hook, has_secret=secret)

    def set_secret(self, workflow: str, node: str, secret: str) -> None:
        """Set what callers of a node prove themselves with."""
        self.desk.set_secret(self.scope, WorkflowId(workflow), NodeKey(node), secret)

    def _view(self, hook: Hook, *, has_secret: bool) -> JsonObject:
        return {
            "workflow": hook.workflow,
            "node": hook.node,
            "type": hook.type,
            "url": self.base + hook.path,
            "armed": hook.armed,
            "has_secret": has_secret,
        }


@app.command()
@command
def hooks(
    workflow: Annotated[str, typer.Argument(help="A workflow.", metavar="WORKFLOW")],
    rotate: Annotated[
        str, typer.Option(metavar="NODE", help="Give this trigger another address, at once.")
    ] = "",
    secret: Annotated[
        str, typer.Option(metavar="NODE", help="Set what callers of this trigger prove.")
    ] = "",
    as_json: AsJson = False,
) -> None:
    """Show the web addresses of a workflow's webhooks and forms; whoever knows one can use it."""
    output = Output(as_json=as_json)
    if rotate and secret:
        raise BadInput("Only one of --rotate and --secret is possible.", remedy="Run it twice.")
    with connected() as connection:
        shelf = shelf_of(connection)
        if secret:
            said = typer.prompt("Secret", hide_input=True, err=True)
            shelf.set_secret(workflow, secret, said)
        found = [shelf.rotate(workflow, rotate)] if rotate else [*shelf.list(workflow)]
    data: JsonObject = {"hooks": [*found]}
    output.answer(data, table(found) if found else f"{workflow} has no webhook and no form.")


def shelf_of(connection: Connection) -> Shelf:
    """Return the hooks that a connection reaches."""
    services = connection.services
    if not isinstance(services, Services):
        return cast("_Remote", services).hooks
    # few commands need these
    from stellwerk.bootstrap.hooking import hook_services

    desk = hook_services(services, services.stores).desk
    return LocalShelf(desk, connection.scope, connection.api or "")


def table(found: Sequence[JsonObject]) -> Listing:
    """Return hooks as people read them."""
    shown = Listing(Column("node"), Column("type"), Column("state"), Column("address", Fit.NAME))
    for hook in found:
        state = "armed" if hook["armed"] else "paused"
        proven = ", with a secret" if hook["has_secret"] else ""
        shown.add(str(hook["node"]), str(hook["type"]), state + proven, str(hook["url"]))
    return shown
