"""Rules for what a graph names outside of itself: people, workflows, connections, agents, files."""

from __future__ import annotations

from collections.abc import Iterator

from stellwerk.catalogue.model import Effect, Kind
from stellwerk.workflows.expressions.braces import present
from stellwerk.workflows.faults import Code, Fault
from stellwerk.workflows.graph import Node
from stellwerk.workflows.ports import Resources
from stellwerk.workflows.validate.schemas import Part, Schema
from stellwerk.workflows.validate.subject import Subject
from stellwerk.workflows.validate.wording import shown

ASSIGNEES = "assignees"


def check_assignees(subject: Subject) -> Iterator[Fault]:
    """Yield human tasks that ask nobody."""
    for node, found in subject.typed:
        properties = found.parameters.get("properties")
        asks = isinstance(properties, dict) and ASSIGNEES in properties
        if found.kind is Kind.WAIT and asks and not node.parameters.get(ASSIGNEES):
            yield Fault(
                Code.ASSIGNEES_MISSING,
                f"Node {node.key} asks nobody: it has no assignees.",
                node=node.key,
                parameter=ASSIGNEES,
            )


def check_retries(subject: Subject) -> Iterator[Fault]:
    """Yield retries of nodes that cannot know whether they have written."""
    for node, found in subject.typed:
        if node.retry is not None and found.effect is not Effect.READ and not found.repeatable:
            message = f"Node {node.key} writes and is retried, but only if nothing has happened."
            yield Fault(Code.RETRY_OF_WRITE, message, node=node.key)


def check_resources(subject: Subject, resources: Resources) -> Iterator[Fault]:
    """Yield things that do not exist for whoever publishes, or are of another kind."""
    for node, found in subject.typed:
        schema = Schema(found.parameters)
        for part in schema.parts(node.parameters):
            for wanted in schema.resources(part):
                yield from _thing(node, part, wanted, resources)


def _thing(node: Node, part: Part, wanted: str, resources: Resources) -> Iterator[Fault]:
    if not isinstance(part.value, str) or present(part.value):
        return
    kind = resources.kind(wanted, part.value)
    place = f"Node {node.key}, parameter {part.place}:"
    name = shown(part.value)
    if kind is None:
        message = f"{place} there is no {wanted} {name}, or it is not open to you."
        yield Fault(Code.RESOURCE_MISSING, message, node=node.key, parameter=part.place)
    elif kind != wanted:
        message = f"{place} {name} is of kind {kind}, but a {wanted} is needed."
        yield Fault(Code.RESOURCE_WRONG_KIND, message, node=node.key, parameter=part.place)
