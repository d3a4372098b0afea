"""The samples, and their cases: what goes in, who decides what, and what comes of it.

Beside `invoice-approval.json` lie `invoice-approval.<case>.input.json` and `….expected.json`.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from pydantic import BaseModel, ConfigDict, Field, TypeAdapter

from scripts.golden import SAMPLES
from stellwerk.kernel.json import JsonObject, JsonValue
from stellwerk.runs.model import RunStatus
from stellwerk.workflows.graph import Graph
from stellwerk.workflows.reading import read_graph

CALLED_FIRST = "approve-purchase"
SERVER = "127.0.0.1:8090"
"""Where inputs say that the services of the office are."""
_INPUT: TypeAdapter[JsonValue] = TypeAdapter(JsonValue)


class _Strict(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")


class Asked(_Strict):
    """A question that the run asks, and its answer."""

    node: str
    asks: list[str]
    title: str
    port: str
    data: JsonValue = None


class Expected(_Strict):
    """What comes of a case."""

    decisions: list[Asked] = []
    """In this order; each task must be open by then."""
    status: RunStatus
    output: JsonValue = None
    ran: dict[str, str | None]
    """The port that each step fired; null where it failed."""
    skipped: list[str] = []
    values: JsonObject = Field(default_factory=dict)
    """Values of steps; of objects only those fields that matter."""
    calls: dict[str, int] = {}
    """Requests that reach the services of the office, by method and path."""


@dataclass(frozen=True)
class Case:
    """One run of a sample."""

    sample: str
    name: str

    def __str__(self) -> str:
        return f"{self.sample}.{self.name}"

    def payload(self, server: str) -> JsonValue:
        """Return what the trigger gets, with the services of the office at `server`."""
        text = (SAMPLES / f"{self}.input.json").read_text(encoding="utf-8")
        return _INPUT.validate_json(text.replace(SERVER, server))

    @property
    def expected(self) -> Expected:
        """What comes of it."""
        text = (SAMPLES / f"{self}.expected.json").read_text(encoding="utf-8")
        return Expected.model_validate_json(text)


def samples() -> list[str]:
    """Return the names of all samples, those that are called before their callers."""
    names = (file.stem for file in SAMPLES.glob("*.json") if "." not in file.stem)
    return sorted(names, key=lambda name: (name != CALLED_FIRST, name))


def graph(sample: str) -> Graph:
    """Return a sample as drawn."""
    return read_graph(_path(sample).read_text(encoding="utf-8"))


def cases() -> Iterator[Case]:
    """Yield all cases of all samples."""
    for file in sorted(SAMPLES.glob("*.input.json")):
        sample, name, _ = file.stem.split(".")
        yield Case(sample, name)


def _path(sample: str) -> Path:
    return SAMPLES / f"{sample}.json"
