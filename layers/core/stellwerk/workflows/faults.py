"""Faults of a graph: what is wrong, where, and how to mend it. `Code` is the one table of them."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from enum import Enum, StrEnum

from stellwerk.kernel.errors import BadInput
from stellwerk.kernel.ids import NodeKey
from stellwerk.kernel.json import JsonObject
from stellwerk.workflows.graph import Edge, Graph


class Severity(StrEnum):
    """Whether a graph with the fault can be published."""

    ERROR = "error"
    WARNING = "warning"


@dataclass(frozen=True)
class Kind:
    """What all faults with one code have in common; `docs/faults.md` is written from it."""

    meaning: str
    example: str
    remedy: str
    severity: Severity = Severity.ERROR


class Code(Enum):
    """Every code that a fault can have. Its text is the name in lower case."""

    NOT_JSON = Kind(
        "The file is not JSON.",
        'A comma is missing: {"nodes": [] "edges": []}',
        "Mend the text at the line and column that the message names.",
    )
    NOT_A_GRAPH = Kind(
        "The file is JSON, but not a workflow graph.",
        "[1, 2, 3], or an object without nodes",
        'Write an object with "nodes" and "edges", as docs/graph.schema.json describes.',
    )
    DOCUMENT_TOO_LARGE = Kind(
        "The file is larger than a graph may be.",
        "A file of 30 MB",
        "Move data out of the graph; split the workflow into sub-workflows.",
    )
    NESTED_TOO_DEEPLY = Kind(
        "Lists or objects are nested too deeply.",
        "A parameter of 200 lists inside one another",
        "Flatten the value.",
    )
    FIELD_REPEATED = Kind(
        "An object holds the same field twice, so one of them would be lost.",
        '{"key": "a", "key": "b"}',
        "Remove or rename one of them.",
    )
    NUMBER_NOT_FINITE = Kind(
        "A number is NaN, infinite, or too large.",
        '{"parameters": {"limit": 1e999}}',
        "Write an ordinary number, or a text.",
    )
    TEXT_NOT_UNICODE = Kind(
        "A text holds half of a character and cannot be stored.",
        r'{"title": "\ud83d"}',
        "Write the text anew.",
    )
    FIELD_UNKNOWN = Kind(
        "An object has a field that nothing reads.",
        '{"key": "a", "typ": "data.set"}',
        "Remove it, or correct its name.",
    )
    FIELD_MISSING = Kind(
        "An object lacks a field that it needs.",
        'An edge without "to"',
        "Add the field.",
    )
    FIELD_INVALID = Kind(
        "A field has a value that it cannot have.",
        '{"timeout": "soon"}',
        "Correct the value as the message says.",
    )
    KEY_MALFORMED = Kind(
        "A node's key has characters that a key cannot have.",
        '"Prüfung 1"',
        "Use up to 40 small letters, digits and _, a letter first. Put other text into the title.",
    )
    KEY_DUPLICATE = Kind(
        "Two nodes have the same key.",
        'Two nodes with the key "check"',
        "Rename one of them.",
    )
    TYPE_UNKNOWN = Kind(
        "There is no node type of this name.",
        '"type": "flow.iff"',
        "Choose one of the types that `stellwerk types` lists.",
    )
    TYPE_NOT_A_NODE = Kind(
        "The action exists, but only for agents.",
        "An action whose declaration says that it is no node",
        "Choose a type that `stellwerk types` lists.",
    )
    PARAMETER_MISSING = Kind(
        "A node lacks a parameter that its type needs.",
        "flow.if without condition",
        "Set the parameter.",
    )
    PARAMETER_UNKNOWN = Kind(
        "A node has a parameter that its type does not know.",
        '"parameters": {"condtion": true}',
        "Remove it, or correct its name.",
    )
    PARAMETER_INVALID = Kind(
        "A parameter's value does not fit its type's schema.",
        '"max_items": "many"',
        "Correct the value as the message says.",
    )
    VALUE_CANNOT_FIT = Kind(
        "An expression takes a value whose type the parameter can never accept.",
        "A text, taken from a node that gives text, as the list of a loop",
        "Take another field, or convert the value: $number(...), $string(...).",
    )
    EDGE_NODE_UNKNOWN = Kind(
        "An edge begins or ends at a node that does not exist.",
        '{"from": "start", "to": "chekc"}',
        "Correct the key, or remove the edge.",
    )
    EDGE_PORT_UNKNOWN = Kind(
        "An edge begins at a port that its node does not have.",
        '{"from": "large", "port": "yes", "to": "approve"} at a flow.if',
        "Use one of the ports that the message names. Port error needs on_error: branch.",
    )
    EDGE_DUPLICATE = Kind(
        "The same edge is there twice.",
        "Twice the edge from start, port out, to check",
        "Remove one of them.",
    )
    EDGE_CROSSES_LOOP = Kind(
        "An edge goes into a loop's body, or out of it.",
        "An edge from a node before the loop to a node of its body",
        "Join the edge to the loop itself: its body begins at its nodes without incoming edges.",
    )
    CYCLE = Kind(
        "Nodes wait for one another in a circle.",
        "a -> b -> c -> a",
        "Remove an edge. To repeat steps, put them into a flow.while or flow.for_each.",
    )
    TRIGGER_MISSING = Kind(
        "The workflow has no trigger, so nothing can start it.",
        "A graph of data nodes only",
        "Add a trigger, for instance trigger.manual.",
    )
    TRIGGER_HAS_INPUT = Kind(
        "An edge leads to a trigger, but triggers only begin.",
        "An edge from check to start",
        "Remove the edge.",
    )
    TRIGGER_IN_LOOP = Kind(
        "A trigger is part of a loop's body.",
        "trigger.manual with a parent",
        "Move the trigger out of the loop.",
    )
    TRIGGER_HAS_ERROR_PORT = Kind(
        "A trigger's errors are to take the port error, but triggers have no such port.",
        'trigger.webhook with "on_error": "branch"',
        "Remove on_error, and edges at its port error: what fails in a trigger fails the run.",
    )
    UNREACHABLE = Kind(
        "No path leads from a trigger to the node, so it can never run.",
        "A node without incoming edges outside of loops",
        "Connect it, or remove it.",
    )
    PARENT_UNKNOWN = Kind(
        "A node belongs to a loop that does not exist.",
        '"parent": "lines", and no node lines',
        "Correct the parent.",
    )
    PARENT_NOT_A_LOOP = Kind(
        "A node belongs to a node that is no loop.",
        "A parent of type data.set",
        "Make the parent a flow.for_each or flow.while, or remove it.",
    )
    PARENT_CIRCULAR = Kind(
        "Loops belong to one another in a circle.",
        "Loop a is in b, and b is in a",
        "Take one of them out.",
    )
    LOOP_EMPTY = Kind(
        "A loop has no nodes in its body.",
        "flow.for_each that is nobody's parent",
        "Put nodes into it, or remove it.",
    )
    LOOP_TOO_DEEP = Kind(
        "Loops are nested more than five deep.",
        "A loop in a loop in a loop in a loop in a loop in a loop",
        "Move the inner loops into a sub-workflow.",
    )
    EXPRESSION_MALFORMED = Kind(
        "An expression cannot be read.",
        "{{ $input.amount + }}",
        "Mend it at the place that the message names.",
    )
    EXPRESSION_NAME_UNKNOWN = Kind(
        "An expression uses a name that stands for nothing.",
        "{{ $imput.amount }}, or {{ amount }} without $input",
        "Use $input, $nodes.<key>, $trigger, $run, $vars, in loops $item and $index.",
    )
    REFERENCE_DYNAMIC = Kind(
        "An expression uses $nodes without naming the node.",
        '{{ $nodes["check"] }} or {{ $keys($nodes) }}',
        "Name the node: $nodes.check",
    )
    REFERENCE_UNKNOWN = Kind(
        "An expression refers to a node that does not exist.",
        "{{ $nodes.chekc.amount }}",
        "Correct the key.",
    )
    REFERENCE_NOT_UPSTREAM = Kind(
        "An expression refers to a node that does not come before.",
        "A node that refers to itself or to one that follows",
        "Refer to a node from which edges lead here.",
    )
    REFERENCE_MAY_BE_ABSENT = Kind(
        "An expression refers to a node that may not have run when its value is needed.",
        "After a decision has met again, a reference into one of its branches",
        "Say what holds otherwise: $default($nodes.key, value), or ask $exists($nodes.key) first.",
    )
    REFERENCE_INSIDE_LOOP = Kind(
        "An expression refers to a node of a loop's body from outside of it.",
        "{{ $nodes.price }}, where price runs once per item of loop lines",
        "Refer to the loop: $nodes.lines.items",
    )
    REFERENCE_OWN_LOOP = Kind(
        "An expression in a loop's body refers to the loop, which is not finished.",
        "{{ $nodes.lines }} inside of lines",
        "Use $item, $index or $input.",
    )
    ITEM_OUTSIDE_LOOP = Kind(
        "An expression uses $index outside of a loop, or $item where no loop over items is around.",
        "{{ $item.price }} at the top level, or in a flow.while",
        "Move the node into a loop, or use $input.",
    )
    ASSIGNEES_MISSING = Kind(
        "Nobody is asked: a human task has no assignees.",
        '"assignees": []',
        'Name users or roles, for instance "role:finance".',
    )
    RESOURCE_MISSING = Kind(
        "A workflow, connection, agent or file does not exist, or is not open to you.",
        'flow.subworkflow with "workflow": "invocies"',
        "Choose one that exists and that you may use.",
    )
    RESOURCE_WRONG_KIND = Kind(
        "A parameter names a thing of another kind than it needs.",
        "An agent where a workflow is needed",
        "Choose one of the kind that the message names.",
    )
    STOP_SUCCESS_TWICE = Kind(
        "Two stops could both set the run's output.",
        "Two parallel branches that each end in a successful flow.stop",
        "Keep one of them, or let a decision choose between them.",
    )
    STOP_SUCCESS_IN_LOOP = Kind(
        "A successful stop is in a loop, where it could happen many times.",
        "flow.stop with outcome success and a parent",
        "Stop after the loop, or stop with an error.",
    )
    BUDGET_EXCEEDED = Kind(
        "The workflow would exceed a limit of AWS Step Functions.",
        "A definition of more than 900 KB",
        "Move the part that the message names into a sub-workflow.",
    )
    ERROR_PORT_OPEN = Kind(
        "Errors of the node take the port error, but nothing follows there: its path just ends.",
        '"on_error": "branch" without an edge at port error',
        "Add what shall happen, or choose on_error: fail.",
        Severity.WARNING,
    )
    PORT_NEVER_FIRES = Kind(
        "An edge begins at a port that cannot fire with these parameters.",
        "An edge at port expired of a task with on_expire: cancel",
        "Remove the edge, or set on_expire: default. A disabled node fires its first port.",
        Severity.WARNING,
    )
    RETRY_OF_WRITE = Kind(
        "A node that writes, and cannot know whether it has written, is to be retried.",
        "retry at an http.request with method POST",
        "Nothing, if errors that leave doubt shall not be retried: those become uncertain.",
        Severity.WARNING,
    )

    def __str__(self) -> str:
        return self.name.lower()


@dataclass(frozen=True)
class Fault:
    """One thing that is wrong. `node` or `edge` or `place` (`nodes[3].key`) say where.

    `example` are the ports taken that lead there, as `decide:yes`.
    """

    code: Code
    message: str
    remedy: str = ""
    node: NodeKey | None = None
    edge: Edge | None = None
    parameter: str | None = None
    place: str = ""
    example: tuple[str, ...] = ()

    @property
    def severity(self) -> Severity:
        """Whether it keeps the graph from being published."""
        return self.code.value.severity

    def as_json(self) -> JsonObject:
        """Return the fault as the API and the command line show it, without empty fields."""
        fields: JsonObject = {
            "code": str(self.code),
            "severity": self.severity.value,
            "node": self.node,
            "edge": self.edge.model_dump(by_alias=True) if self.edge else None,
            "parameter": self.parameter,
            "place": self.place,
            "message": self.message,
            "remedy": self.remedy or self.code.value.remedy,
            "example": list(self.example),
        }
        return {name: value for name, value in fields.items() if value}

    @property
    def order(self) -> tuple[str, ...]:
        """What faults are sorted by: errors first, then by place."""
        ends = (self.edge.source, self.edge.port, self.edge.target) if self.edge else ()
        where = self.node or ":".join(ends)
        return (
            self.severity,
            where,
            self.parameter or "",
            self.place,
            str(self.code),
            self.message,
        )


def ordered(faults: Iterable[Fault]) -> tuple[Fault, ...]:
    """Return the faults in their one order, each once."""
    return tuple(sorted(dict.fromkeys(faults), key=lambda fault: fault.order))


def errors(faults: Iterable[Fault]) -> tuple[Fault, ...]:
    """Return those that keep a graph from being published."""
    return tuple(fault for fault in faults if fault.severity is Severity.ERROR)


class InvalidGraph(BadInput):
    """A graph cannot be read, published or run; `faults` are all that is wrong with it."""

    def __init__(self, faults: Iterable[Fault], *, graph: Graph | None = None) -> None:
        self.faults = ordered(faults)
        self.graph = graph
        """What of it could be read."""
        first = self.faults[0]
        count = len(self.faults)
        more = f" (and {count - 1} more)" if count > 1 else ""
        super().__init__(f"{first.message}{more}", remedy=first.remedy or first.code.value.remedy)
