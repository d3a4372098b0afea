"""Records, read back from what the API shows.

What the API keeps to itself (tokens, revisions) is stood in for: a task's token by a mark that it
waits, a revision by a sum over what is shown, which changes when that does.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TypeVar
from zlib import crc32

from pydantic import TypeAdapter

from stellwerk.kernel.errors import BadInput
from stellwerk.kernel.ids import RunId
from stellwerk.kernel.json import JsonObject, JsonValue, dumps
from stellwerk.kernel.pages import Page
from stellwerk.kernel.records import Stored, ValueRef
from stellwerk.runs.comparing import Compared
from stellwerk.runs.model import HumanTask, Run, Step
from stellwerk.tenancy.scope import Scope
from stellwerk.workflows.model import Version, Workflow

R = TypeVar("R")


def page_of(shown: JsonObject, read: Callable[[JsonObject], R]) -> Page[R]:
    """Return a page of a list, its items read by `read`."""
    cursor = shown.get("cursor")
    items = [read(object_of(each)) for each in items_of(shown["items"])]
    return Page(items, str(cursor) if cursor else None)


def run_of(scope: Scope, shown: JsonObject) -> Run:
    """Return a run of the scope."""
    parent = shown.get("parent")
    values = {
        name: {"text": dumps(shown[name])}
        for name in ("input", "output")
        if shown.get(name) is not None
    }
    known = {name: shown[name] for name in shown if name in Run.model_fields}
    return Run.model_validate(
        {
            **known,
            **{name: values.get(name) for name in ("input", "output")},
            "mandate": scope.mandate,
            "instance": scope.instance,
            "parent": {**parent, "depth": 1} if isinstance(parent, dict) else None,
        }
    )


def step_of(run: RunId, shown: JsonObject) -> Step:
    """Return a step of a run; its values are named, and not there yet."""
    state = crc32(dumps(shown).encode())
    step = f"runs/{run}/steps/{shown['step']}"
    parts = {
        part: Stored(ref=ValueRef(key=f"{step}#{part}", size=0, sha256=str(state)))
        for part in ("input", "value")
        if shown["attempts"]
    }
    known = {name: shown[name] for name in shown if name in Step.model_fields}
    token = "hidden" if shown["status"] == "waiting" else None
    return Step.model_validate({**known, **parts, "run": run, "token": token, "revision": state})


def compared_of(shown: JsonObject) -> Compared:
    """Return a step of two runs."""
    return TypeAdapter(Compared).validate_python(shown)


def task_of(shown: JsonObject) -> HumanTask:
    """Return a task."""
    return HumanTask.model_validate(
        {name: shown[name] for name in shown if name in HumanTask.model_fields}
    )


def workflow_of(shown: JsonObject) -> Workflow:
    """Return a workflow."""
    known = {name: shown[name] for name in shown if name in Workflow.model_fields}
    return Workflow.model_validate({**known, "created_by": shown["owner"]})


def version_of(shown: JsonObject) -> Version:
    """Return a version without its graph, and without the machines that the API does not show."""
    known = {name: shown[name] for name in shown if name in Version.model_fields}
    return Version.model_validate({**known, "graph": Stored()})


def object_of(value: object) -> JsonObject:
    """Return a value as an object; raises BadInput where it is none."""
    if not isinstance(value, dict):
        raise BadInput("the API does not answer as this command expects: are their versions equal?")
    return value


def items_of(value: JsonValue) -> Sequence[JsonValue]:
    """Return the items of a list; of anything else there are none."""
    return value if isinstance(value, list) else []
