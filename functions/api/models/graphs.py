"""Graphs, what is wrong with them, and what they would cost."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Literal

from pydantic import ConfigDict, Field

from api.models.base import Shown
from stellwerk.workflows import faults as found_by
from stellwerk.workflows import preview


class EdgeName(Shown):
    """An edge, by its ends."""

    model_config = ConfigDict(populate_by_name=True)

    source: str = Field(alias="from")
    port: str
    target: str = Field(alias="to")


class Fault(Shown):
    """One thing that is wrong with a graph."""

    model_config = ConfigDict(
        json_schema_extra={
            "example": {
                "code": "reference_unknown",
                "severity": "error",
                "message": "Node pay, parameter fields: there is no node chekc.",
                "remedy": "Correct the key.",
                "node": "pay",
                "edge": None,
                "parameter": "fields",
                "place": "",
                "example": [],
            }
        }
    )

    code: str = Field(description="See docs/faults.md")
    severity: Literal["error", "warning"] = Field(description="An error prevents publishing")
    message: str
    remedy: str
    node: str | None
    edge: EdgeName | None
    parameter: str | None
    place: str = Field(description="Where in the document: `nodes[3].key`")
    example: list[str] = Field(description="Ports taken that lead there, as `decide:yes`")

    @classmethod
    def of(cls, fault: found_by.Fault) -> Fault:
        """Show a fault."""
        edge = fault.edge
        return cls(
            code=str(fault.code),
            severity=fault.severity.value,
            message=fault.message,
            remedy=fault.remedy or fault.code.value.remedy,
            node=fault.node,
            edge=EdgeName(source=edge.source, port=edge.port, target=edge.target) if edge else None,
            parameter=fault.parameter,
            place=fault.place,
            example=list(fault.example),
        )

    @classmethod
    def all_of(cls, found: Iterable[found_by.Fault]) -> list[Fault]:
        """Show faults, errors first."""
        return [cls.of(fault) for fault in found_by.ordered(found)]


class Faults(Shown):
    """All that is wrong with a graph."""

    valid: bool = Field(description="Whether it could be published")
    faults: list[Fault]

    @classmethod
    def of(cls, found: Iterable[found_by.Fault]) -> Faults:
        """Show faults."""
        shown = Fault.all_of(found)
        return cls(valid=all(fault.severity != "error" for fault in shown), faults=shown)


class Forecast(Shown):
    """What one run may spend at most of what AWS Step Functions allows."""

    events: int = Field(description="History events, of at most 25,000")
    transitions: int = Field(description="State transitions, which are billed")
    size: int = Field(description="Bytes of the definition, of at most 1,048,576")


class Compilation(Faults):
    """What publishing a graph would make of it. Where it has errors, these alone."""

    graph_hash: str = Field(description="Equal for graphs that mean the same")
    forecast: Forecast | None
    gates: list[str] = Field(description="Nodes that wait for several branches")
    definitions: dict[str, str] = Field(
        description="State machines in the States Language: `` is the workflow's, others by loop"
    )

    @classmethod
    def of_preview(cls, made: preview.Preview) -> Compilation:
        """Show a preview."""
        spent = made.forecast
        return cls(
            **dict(Faults.of(made.faults)),
            graph_hash=made.graph_hash,
            forecast=Forecast(events=spent.events, transitions=spent.transitions, size=spent.size)
            if spent
            else None,
            gates=list(made.gates),
            definitions=made.definitions,
        )
