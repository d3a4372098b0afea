"""`connections`: accounts at services. A secret is read from a file, so that no list shows it."""

from __future__ import annotations

from collections.abc import Sequence
from importlib import import_module
from typing import Annotated, Protocol, cast
from urllib.parse import parse_qs, urlsplit

import typer
from rich.text import Text

from localcloud.cli.arguments import json_value
from localcloud.cli.connection import Connection, connected
from localcloud.cli.listing import Column, Fit, Listing
from localcloud.cli.output import AsJson, Exit, Output, command
from localcloud.cli.rendering import continued
from stellwerk.bootstrap import Services
from stellwerk.config import LOCAL_REDIRECT
from stellwerk.kernel.errors import BadInput
from stellwerk.kernel.json import JsonObject, JsonValue
from stellwerk.tenancy.scope import Scope
from stellwerk.toolboxes.model import Kind

app = typer.Typer(help="Accounts at services: mailboxes, Microsoft 365, Slack, web addresses.")
Which = Annotated[str, typer.Argument(help="A connection's id.", metavar="CONNECTION")]


class Accounts(Protocol):
    """The connections of an instance, as they are shown."""

    def list(self, cursor: str | None, limit: int) -> JsonObject:
        """Return a page."""

    def create(
        self, kind: Kind, label: str, settings: JsonObject, secret: JsonObject, *, shared: bool
    ) -> JsonObject:
        """Make one."""

    def test(self, connection: str) -> JsonObject:
        """Try one out."""

    def authorise(self, connection: str, redirect: str) -> str:
        """Return where its owner consents."""

    def finish(self, state: str, code: str) -> JsonObject:
        """Hand in what came back."""

    def revoke(self, connection: str) -> JsonObject:
        """End the use of one."""

    def remove(self, connection: str) -> None:
        """Forget one."""


class _Remote(Protocol):
    """The services at an API, as seen from here."""

    connections: Accounts


class _Local(Protocol):
    """The module `local_connections`, as seen from here."""

    def accounts(self, services: Services, scope: Scope) -> Accounts:
        """Return the connections of a local cloud."""


@app.command(name="list")
@command
def list_(
    limit: Annotated[int, typer.Option(min=1, max=100)] = 50,
    cursor: Annotated[str | None, typer.Option(help="Continue a list.")] = None,
    as_json: AsJson = False,
) -> None:
    """List your connections and those of the instance."""
    output = Output(as_json=as_json)
    with connected() as connection:
        page = accounts_of(connection).list(cursor, limit)
    found, following = _items(page["items"]), page["cursor"]
    rest = continued(following) if isinstance(following, str) else ()
    output.answer(
        {"connections": [*found], "cursor": following},
        _table(found) if found else "There are no connections.",
        *rest,
    )


@app.command()
@command
def create(
    kind: Annotated[Kind, typer.Argument(help="At what kind of service.")],
    label: Annotated[str, typer.Argument(help="What people call it.", metavar="LABEL")],
    settings: Annotated[
        str | None, typer.Option(metavar="JSON|@FILE", help="What is no secret.")
    ] = None,
    secret: Annotated[
        str | None, typer.Option(metavar="@FILE", help="What nobody is shown; @-: standard input.")
    ] = None,
    shared: Annotated[bool, typer.Option("--shared", help="Give it to the instance.")] = False,
    as_json: AsJson = False,
) -> None:
    """Make a connection; docs/connections.md says what each kind needs."""
    output = Output(as_json=as_json)
    if secret is not None and not secret.startswith("@"):
        raise BadInput(
            "A secret on the command line is seen by others.",
            remedy="Write it into a file and name that as --secret @FILE.",
        )
    plain, hidden = _object(settings, "--settings"), _object(secret, "--secret")
    with connected() as connection:
        made = accounts_of(connection).create(kind, label, plain, hidden, shared=shared)
    output.answer(made, f"made {made['label']}: {made['id']} ({made['status']})")


@app.command()
@command
def test(which: Which, as_json: AsJson = False) -> None:
    """Try a connection out; ends with 1 where it does not work."""
    output = Output(as_json=as_json)
    with connected() as connection:
        verdict = accounts_of(connection).test(which)
    output.answer(verdict, str(verdict["message"]), *filter(None, [str(verdict["remedy"])]))
    if not verdict["works"]:
        raise typer.Exit(Exit.FAILED)


@app.command()
@command
def authorise(
    which: Which,
    redirect: Annotated[
        str, typer.Option(metavar="URL", help="Where to be sent back to.")
    ] = LOCAL_REDIRECT,
    as_json: AsJson = False,
) -> None:
    """Show the address at which you consent for a Microsoft account that you own."""
    output = Output(as_json=as_json)
    with connected() as connection:
        url = accounts_of(connection).authorise(which, redirect)
    output.answer(
        {"url": url},
        "Open this address, consent, and hand in where you are sent to: "
        "stellwerk connections finish URL",
        Text(url, no_wrap=True),
    )


@app.command()
@command
def finish(
    url: Annotated[str, typer.Argument(help="Where you were sent to.", metavar="URL")],
    as_json: AsJson = False,
) -> None:
    """Hand in the address to which you were sent back, within ten minutes."""
    output = Output(as_json=as_json)
    given = parse_qs(urlsplit(url).query)
    state, code = given.get("state"), given.get("code")
    if not state or not code:
        told = given.get("error_description") or given.get("error") or ["it has no code"]
        raise BadInput(
            f"This address brings no consent: {told[0]}.", remedy="Begin to authorise anew."
        )
    with connected() as connection:
        found = accounts_of(connection).finish(state[0], code[0])
    output.answer(found, f"{found['label']} is {found['status']}")


@app.command()
@command
def revoke(which: Which, as_json: AsJson = False) -> None:
    """End the use of a connection and forget its secret; it stays in the list."""
    output = Output(as_json=as_json)
    with connected() as connection:
        found = accounts_of(connection).revoke(which)
    output.answer(found, f"{found['label']} is {found['status']}")


@app.command()
@command
def delete(which: Which, as_json: AsJson = False) -> None:
    """Forget a connection and its secret."""
    output = Output(as_json=as_json)
    with connected() as connection:
        accounts_of(connection).remove(which)
    output.answer({"deleted": which}, f"{which} is forgotten")


def accounts_of(connection: Connection) -> Accounts:
    """Return the connections that a connection of the command line reaches."""
    services = connection.services
    if not isinstance(services, Services):
        return cast("_Remote", services).connections
    local = cast("_Local", import_module("localcloud.cli.local_connections"))
    return local.accounts(services, connection.scope)


def _object(text: str | None, option: str) -> JsonObject:
    found = json_value(text, option)
    if found is None or isinstance(found, dict):
        return found or {}
    raise BadInput(f"{option} must be a JSON object.", remedy='As in \'{"user": "office"}\'.')


def _items(found: JsonValue) -> Sequence[JsonObject]:
    return [one for one in found if isinstance(one, dict)] if isinstance(found, list) else []


def _table(found: Sequence[JsonObject]) -> Listing:
    table = Listing(
        Column("id"),
        Column("kind"),
        Column("label", Fit.NAME),
        Column("whose", Fit.NAME),
        Column("status"),
        Column("problem", Fit.TEXT, 20),
    )
    for one in found:
        whose = "the instance" if one["shared"] else str(one["owner"])
        row = (one["id"], one["kind"], one["label"], whose, one["status"], one["problem"])
        table.add(*map(str, row))
    return table
