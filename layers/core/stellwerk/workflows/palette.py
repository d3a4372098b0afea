"""The node types that someone may use: the catalogue, as roles let it be seen."""

from __future__ import annotations

from collections.abc import Sequence

from stellwerk.catalogue.model import Catalogue, NodeType
from stellwerk.tenancy.access import Context, Verb, decide
from stellwerk.tenancy.scope import Scope

USE = "use"
"""Begins the operations that stand for groups of types: `use.http` for all of toolbox http."""


class Palette:
    """Shows the catalogue. Roles allow or deny whole groups: `resource.feature.X.use.http`."""

    def __init__(self, catalogue: Catalogue) -> None:
        self._catalogue = catalogue

    def types(self, scope: Scope) -> Sequence[NodeType]:
        """Return the types that the scope's roles let it use, by name."""
        found = self._catalogue.types()
        groups = {group_of(declared) for declared in found}
        usable = {group for group in groups if _usable(scope, group)}
        return [declared for declared in found if group_of(declared) in usable]

    def find(self, scope: Scope, name: str) -> NodeType | None:
        """Return the type called `name`; None if there is none that the scope may use."""
        found = self._catalogue.find(name)
        return found if found is not None and _usable(scope, group_of(found)) else None


def group_of(declared: NodeType) -> str:
    """Return the group of a type, or the toolbox of an action: `http` of `http.request`."""
    return declared.type.partition(".")[0]


def _usable(scope: Scope, group: str) -> bool:
    item = f"resource.feature.{scope.feature}.{USE}.{group}"
    decision = decide(scope.principal, Context.RESOURCE, item, Verb.VIEW, place=scope.place)
    return decision.allowed
