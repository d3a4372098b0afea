"""`login` and `logout`: tokens for the API of a deployment."""

from __future__ import annotations

import webbrowser
from typing import Annotated

import typer

from localcloud.cli.connection import TARGET
from localcloud.cli.output import AsJson, Output, command
from localcloud.cli.remote import Api, normal
from localcloud.cli.remote_issuer import Issuer
from localcloud.cli.remote_places import whoami
from localcloud.cli.remote_sessions import Session, Sessions
from localcloud.cli.remote_signin import PORT, KeptPass, sign_in
from localcloud.issuer.app import CLIENT
from stellwerk.kernel.errors import BadInput
from stellwerk.kernel.json import JsonObject

app = typer.Typer()
LOCAL = "http://127.0.0.1:8400"
Address = Annotated[
    str | None,
    typer.Option("--api", metavar="URL", help=f"The deployment's address; else {LOCAL}."),
]


@app.command()
@command
def login(
    api: Address = None,
    client_id: Annotated[
        str, typer.Option(envvar="STELLWERK_CLIENT_ID", help="The application, or the machine.")
    ] = CLIENT,
    client_secret: Annotated[
        str, typer.Option(envvar="STELLWERK_CLIENT_SECRET", help="A machine's secret.")
    ] = "",
    browser: Annotated[bool, typer.Option(help="Open the page to sign in.")] = True,
    port: Annotated[int, typer.Option(help="Where the browser comes back to.")] = PORT,
    as_json: AsJson = False,
) -> None:
    """Sign in: as a person in the browser, or as a machine with its secret."""
    output = Output(as_json=as_json)
    address = normal(api or TARGET.get().api or LOCAL)
    issuer = _issuer_of(address)
    if client_secret:
        session = issuer.machine(client_id, client_secret)
    else:
        session = _person(issuer, client_id, output, browser=browser, port=port)
    Sessions().keep(address, session)
    with Api(address, KeptPass(Sessions(), address)) as signed_in:
        user = whoami(signed_in).user
    data: JsonObject = {"api": address, "user": user.id, "name": user.name, "kind": user.kind}
    output.answer(data, f"signed in at {address} as {user.name} ({user.id})")


@app.command()
@command
def logout(api: Address = None, as_json: AsJson = False) -> None:
    """Sign out: the tokens are forgotten here and revoked at the issuer."""
    output = Output(as_json=as_json)
    address = normal(api or TARGET.get().api or LOCAL)
    session = Sessions().find(address)
    if session is None:
        raise BadInput(f"You are not signed in at {address}.")
    Sessions().forget(address)
    Issuer(session.issuer).revoke(session)
    output.answer({"api": address}, f"signed out at {address}")


def _issuer_of(address: str) -> Issuer:
    with Api(address) as api:
        issuer = api.get("/health").object.get("issuer")
    if not isinstance(issuer, str):
        raise BadInput(f"{address} does not name the issuer of its tokens.")
    normal(issuer)  # credentials go over https, or stay on this machine
    return Issuer(issuer)


def _person(issuer: Issuer, client: str, output: Output, *, browser: bool, port: int) -> Session:
    def show(page: str) -> None:
        output.say(f"Sign in on this page:\n{page}")
        if browser:
            webbrowser.open(page)

    return sign_in(issuer, client, show, port=port)
