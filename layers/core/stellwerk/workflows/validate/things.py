"""Rules for what a graph names outside of itself: people, workflows, connections, agents, files."""

from __future__ import annotations

from collections.abc import Iterator

from stellwerk.catalogue.model import Effect, Kind
from stellwerk.workflows.expressions.braces import present
from stellwerk.workflows.faults import Code, Fault
from stellwerk.workflows.model import Reference
from stellwerk.workflows.ports import Resources
from stellwerk.workflows.resources import USER, unknown
from stellwerk.workflows.validate.schemas import Part, Schema
from stellwerk.workflows.validate.subject import Subject

ASSIGNEES = "assignees"
_USER = "user:"
_NO_USERS = ("role:", "mail:", "*")
"""How assignees begin that are no users; one without such a beginning is a user's id."""


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
    yield from unknown(references(subject), resources)


def references(subject: Subject) -> Iterator[Reference]:
    """Yield what the graph names outside of itself, where no expression stands for it."""
    for node, found in subject.typed:
        schema = Schema(found.parameters)
        for part in schema.parts(node.parameters):
            for kind, name in _named(schema, part):
                yield Reference(node=node.key, parameter=part.place, kind=kind, name=name)


def _named(schema: Schema, part: Part) -> Iterator[tuple[str, str]]:
    """Yield kind and name of what a part of the parameters names."""
    if not isinstance(part.value, str) or present(part.value):
        return
    for kind in schema.resources(part):
        yield kind, part.value
    if part.place.startswith(f"{ASSIGNEES}[") and not part.value.startswith(_NO_USERS):
        yield USER, part.value.removeprefix(_USER)
