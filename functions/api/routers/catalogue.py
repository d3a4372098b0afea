"""The catalogue: the node types and actions that this user may use here."""

from __future__ import annotations

import hashlib
from typing import Annotated

from fastapi import Path, Query
from starlette.responses import Response

from api.backend import Here
from api.caller import InInstance
from api.models.catalogue import NodeType, NodeTypes
from api.operations import operations
from api.rendering import JSON, text_of
from stellwerk.kernel.errors import NotFound

router = operations(tags=["catalogue"])
TypeInPath = Annotated[
    str, Path(pattern=r"^[a-z][a-z0-9_.]{0,79}$", description="A type", examples=["flow.if"])
]


@router.get("/catalogue", response_model=NodeTypes)
def list_node_types(
    scope: InInstance,
    here: Here,
    all: Annotated[bool, Query(description="Also those you may not use, to draw graphs")] = False,
) -> Response:
    """List the node types and actions that you may use here, with their schemas and samples."""
    types = [found for found in here.palette.types(scope) if all or found.usable]
    return _tagged(NodeTypes(items=[NodeType.of(found) for found in types]))


@router.get("/catalogue/{type}", response_model=NodeType)
def get_node_type(scope: InInstance, here: Here, type: TypeInPath) -> Response:
    """Show a node type or action."""
    found = here.palette.find(scope, type)
    if found is None:
        raise NotFound(f"There is no type '{type}'.", remedy="Look at the catalogue.")
    return _tagged(NodeType.of(found))


def _tagged(view: NodeType | NodeTypes) -> Response:
    """The catalogue changes with deployments and roles only: clients ask whether it has."""
    text = text_of(view)
    tag = hashlib.sha256(text.encode()).hexdigest()[:32]
    return Response(text, 200, {"ETag": f'"{tag}"'}, JSON)
