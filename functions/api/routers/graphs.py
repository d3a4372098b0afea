"""Graphs that are not saved: what is wrong with them, and what publishing would make of them."""

from __future__ import annotations

from starlette.responses import Response

from api.backend import Here
from api.caller import InInstance
from api.graphs import BODY, InBody
from api.models.graphs import Compilation, Faults
from api.operations import operations
from api.rendering import shown

router = operations(tags=["graphs"])


@router.post("/validate", response_model=Faults, openapi_extra=BODY)
def validate_graph(scope: InInstance, here: Here, body: InBody) -> Response:
    """Check a graph as publishing would, and return everything that is wrong with it."""
    return shown(Faults.of(here.workflows.validate(scope, body.read())))


@router.post("/compile", response_model=Compilation, openapi_extra=BODY)
def compile_graph(scope: InInstance, here: Here, body: InBody) -> Response:
    """Compile a graph without publishing it, with a forecast of what its runs may spend."""
    return shown(Compilation.of_preview(here.workflows.preview(scope, body.read())))
