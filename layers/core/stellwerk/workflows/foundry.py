"""State machines of versions: compiled once, their definitions kept, made anew from these."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import TYPE_CHECKING

from stellwerk.kernel.json import JsonObject
from stellwerk.tenancy.scope import Scope
from stellwerk.workflows.graph import Graph
from stellwerk.workflows.model import Version, Workflow
from stellwerk.workflows.naming import MachineName
from stellwerk.workflows.press import Press
from stellwerk.workflows.preview import definitions_of
from stellwerk.workflows.values import Texts

if TYPE_CHECKING:
    from stellwerk.workflows.compile import Compiled


class Foundry:
    """Makes machines. All of it may be repeated: an equal machine is the same one."""

    def __init__(self, press: Press) -> None:
        self._press = press
        self._texts = Texts(press.values)

    def ready(self, scope: Scope, workflow: Workflow, version: Version) -> Version:
        """Return `version` with machines that exist: its first, or those it had, made anew."""
        if not version.definitions:
            return self.compiled(scope, workflow, version, edition=f"v{version.number}")
        kept = {
            loop: self._press.values.get(scope, key).decode()
            for loop, key in version.definitions.items()
        }
        name = MachineName(workflow.slug, f"v{version.number}", version.rebuilt)
        return version.model_copy(update={"machines": self._made(scope, name, kept)})

    def compiled(
        self, scope: Scope, workflow: Workflow, version: Version, *, edition: str
    ) -> Version:
        """Compile the graph of `version`, which has no fault, keep its definitions and make them.

        Raises BadInput where the graph is too large for Step Functions.
        """
        press = self._press
        graph = Graph.model_validate(json.loads(self._texts.load(scope, version.graph)))
        comment = f"{workflow.slug} {edition} {version.trial or version.graph_hash}"
        compiled = press.compiler.compile(
            graph, press.catalogue, prefix=press.prefix, comment=comment
        )
        definitions = definitions_of(compiled)
        name = MachineName(workflow.slug, edition, version.rebuilt)
        return version.model_copy(
            update={
                "definitions": self._kept(scope, name, definitions),
                "machines": self._made(scope, name, definitions),
                "plan": _plan(compiled),
                "names": tuple(press.compiler.references(graph, press.catalogue)),
            }
        )

    def _kept(
        self, scope: Scope, name: MachineName, definitions: Mapping[str, str]
    ) -> dict[str, str]:
        """Keep the definitions and return where, by loop."""
        kept: dict[str, str] = {}
        for loop, definition in definitions.items():
            kept[loop] = f"machines/{name.of(scope, loop, definition)}.asl.json"
            self._press.values.put(scope, kept[loop], definition.encode())
        return kept

    def _made(
        self, scope: Scope, name: MachineName, definitions: Mapping[str, str]
    ) -> dict[str, str]:
        """Create the machines and return their ARNs, by loop."""
        return {
            loop: self._press.machines.create(scope, name.of(scope, loop, definition), definition)
            for loop, definition in definitions.items()
        }


def _plan(compiled: Compiled) -> JsonObject:
    watched: JsonObject = {node: [*gated] for node, gated in compiled.watch.items()}
    passes: JsonObject = {str(node): port for node, port in compiled.passes.items()}
    return {"watch": watched, "passes": passes}
