from __future__ import annotations

import subprocess
import sys

from fastapi import FastAPI
from fastapi.testclient import TestClient

from api.operations import Operation, declared, operations

LATE = ("stellwerk.workflows.compile", "stellwerk.workflows.validate", "jsonschema")
"""What only some requests need, and whose imports cost much."""


def served() -> FastAPI:
    router = operations("/rooms", tags=["rooms"])

    @router.get("/{room}")
    def get_room(room: int) -> dict[str, int]:
        return {"room": room}

    @router.delete("/{room}", status_code=204)
    def remove_room(room: int) -> None:
        """Remove it."""

    app = FastAPI()
    app.router.routes.extend(declared(router, "/hotel"))
    return app


def together(app: FastAPI) -> list[bool]:
    """Return of each operation whether it is put together."""
    return ["_whole" in vars(route) for route in app.routes if isinstance(route, Operation)]


def test_an_operation_is_put_together_when_it_is_asked_for() -> None:
    app = served()
    assert together(app) == [False, False]
    assert TestClient(app).get("/hotel/rooms/7").json() == {"room": 7}
    assert together(app) == [True, False]


def test_paths_parameters_and_methods_are_those_of_the_declaration() -> None:
    client = TestClient(served())
    assert client.get("/hotel/rooms/seven").status_code == 422
    assert client.delete("/hotel/rooms/7").status_code == 204
    assert client.put("/hotel/rooms/7").status_code == 405
    assert client.head("/hotel/rooms/7").status_code == 405
    assert client.get("/rooms/7").status_code == 404


def test_the_document_has_what_was_not_asked_for_yet() -> None:
    paths = served().openapi()["paths"]
    assert paths["/hotel/rooms/{room}"]["get"]["operationId"] == "getRoom"
    assert paths["/hotel/rooms/{room}"]["delete"]["tags"] == ["rooms"]


def test_the_start_of_the_api_imports_neither_checks_nor_compiler() -> None:
    code = f"import sys, api.handler; print([name for name in {LATE} if name in sys.modules])"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "[]\n", done.stderr
