"""Every key of a mandate begins with its id, whatever else goes into it: that is what IAM judges.

Found by looking at all functions of the key modules, so that a new one is judged too.
"""

from __future__ import annotations

import importlib
import inspect
import pkgutil
import typing
from collections.abc import Callable, Iterator, Sequence
from datetime import UTC, datetime
from enum import Enum
from pathlib import Path

import pytest

import stellwerk.aws
from stellwerk.aws.keys import Key
from stellwerk.aws.sessions import mandate_of
from stellwerk.kernel.ids import InstanceId, MandateId, NodeKey
from stellwerk.kernel.ids import Path as Place
from stellwerk.runs.model import Run, StepKey
from stellwerk.tenancy.scope import SYSTEM, Scope, of_run
from tests.contracts.records import run

MANDATE = MandateId("m-demo")
HOSTILE = "system##user#u"
"""A text from outside that looks like the key of something else."""
OF_NO_MANDATE = {
    *("mandate_entry", "user", "place_of_user", "secret", "subject", "email"),
    "mailbox_entry",
}
"""Keys of what belongs to no mandate, whoever asks: users, lists of mandates and mailboxes."""
NO_PARTITION = {"value", "listed_at"}
"""An object's name, and a sort key."""
FOLDER = Path(stellwerk.aws.__file__).parent
MODULES = sorted(
    module.name for module in pkgutil.iter_modules([str(FOLDER)]) if module.name.endswith("keys")
)


def functions() -> Iterator[tuple[str, Callable[..., object]]]:
    for name in MODULES:
        module = importlib.import_module(f"stellwerk.aws.{name}")
        for label, function in vars(module).items():
            own = inspect.isfunction(function) and function.__module__ == module.__name__
            if own and not label.startswith("_"):
                yield label, function


FUNCTIONS = {f"{function.__module__}.{label}": function for label, function in functions()}


def argument(name: str, kind: object) -> object:
    """Return a value of an annotated parameter, as hostile as its type allows."""
    options = [each for each in typing.get_args(kind) if each is not type(None)]
    if options:
        kind = options[0]
    if kind is Scope:
        return of_run(MANDATE, "i-demo", HOSTILE)
    if kind is MandateId:
        return MANDATE
    if kind is InstanceId:
        return InstanceId("i-demo")
    if kind is StepKey:
        return StepKey(path=Place("lines[1]"), node=NodeKey("n"))
    if kind is Run:
        return run().model_copy(update={"id": HOSTILE})
    if kind is datetime:
        return datetime(2026, 11, 2, tzinfo=UTC)
    if kind is int:
        return 1
    if inspect.isclass(kind) and issubclass(kind, Enum):
        return next(iter(kind))
    return HOSTILE


def partitions(function: Callable[..., object]) -> Sequence[str]:
    """Return the partition keys that a function makes."""
    kinds = typing.get_type_hints(function)
    given = {name: argument(name, kinds[name]) for name in inspect.signature(function).parameters}
    made = function(**given)
    if isinstance(made, Key):
        return [made.pk]
    return (
        [made] if isinstance(made, str) else [str(each) for each in typing.cast("list[str]", made)]
    )


@pytest.mark.parametrize("name", FUNCTIONS)
def test_a_key_begins_with_its_mandate(name: str) -> None:
    label = name.rsplit(".", 1)[-1]
    if label in NO_PARTITION:
        return
    wanted = f"{SYSTEM}##" if label in OF_NO_MANDATE else f"{MANDATE}#"
    found = partitions(FUNCTIONS[name])
    assert found
    for partition in found:
        assert partition.startswith(wanted), f"{name} makes {partition}"
        assert mandate_of(partition) == wanted.partition("#")[0]


def test_an_object_lies_below_its_mandate() -> None:
    value = next(each for name, each in FUNCTIONS.items() if name.endswith("keys.value"))
    assert str(value(of_run(MANDATE, "i-demo", "u"), "../system/x")).startswith("m-demo/i-demo/")
