"""The nodes that drawn workflows are made of: real node types whose doings a plan decides.

`$trigger.plan.<key>` lists what node `key` does by index of the loop around it (the last entry
holds for all further ones, the first outside of loops): the port of a decision, the number of items
or passes of a loop, or "fail".
"""

from __future__ import annotations

from collections.abc import Mapping

from stellwerk.kernel.ids import NodeKey, Path
from stellwerk.kernel.json import JsonObject, JsonValue
from stellwerk.workflows.graph import Edge, Graph, Node, enclosing
from tests.proof.outcome import Behaviour, Failed, Fired
from tests.proof.sketch import FAIL, Drawn, Item, Sketch

FAILURE = Failed("ExpressionFailed")
STOPPED = Failed("StoppedWithError")
_TRIGGERS = ("trigger.manual", "trigger.called")
_TYPES = {
    Drawn.STEP: "data.transform",
    Drawn.SWITCH: "flow.switch",
    Drawn.IF: "flow.if",
    Drawn.APPROVAL: "input.approval",
    Drawn.DELAY: "flow.wait",
    Drawn.EACH: "flow.for_each",
    Drawn.WHILE: "flow.while",
    Drawn.STOP: "flow.stop",
}
UNSAID: JsonObject = {
    "data": None,
    "by": "",
    "at": "",
    "comment": "",
    "on_behalf_of": None,
    "votes": [],
}
"""What an approval hands on besides the decision, when nobody says anything with it."""
_SIGHT = (
    '($name := function($v) { $type($v) = "object" and $exists($v.By)'
    ' ? $v.By & "/" & $string($v.At) : $type($v) };'
    ' $type($input) = "object" and $not($exists($input.By))'
    ' ? $join($sort($each($input, function($v, $k) { $k & ":" & $name($v) })), " ")'
    " : $name($input))"
)
"""What a step sees of its input: who it is from, one level deep, so that values stay small."""


def graph(drawn: Sketch) -> Graph:
    """Return the workflow with its parameters."""
    edges = [Edge.model_validate({"from": s, "port": p, "to": t}) for s, p, t in drawn.edges]
    triggers = [item.key for item in drawn.items if item.kind is Drawn.TRIGGER]
    kinds = {key: _TRIGGERS[n % len(_TRIGGERS)] for n, key in enumerate(triggers)}
    nodes = [_node(item, kinds.get(item.key) or _TYPES[item.kind]) for item in drawn.items]
    return Graph(title="Drawn by a test", nodes=tuple(nodes), edges=tuple(edges))


def payload(drawn: Sketch) -> JsonObject:
    """Return the input of the run."""
    return {"plan": {item.key: [*item.fates] for item in drawn.items}}


def behaviour(drawn: Sketch) -> Behaviour:
    """Return what the nodes do, as the reference asks."""
    items = {item.key: item for item in drawn.items}

    def answer(key: NodeKey, path: Path, given: JsonValue, index: int) -> Fired | Failed:
        item, place = items[key], _index(path)
        fate = item.fates[min(place or 0, len(item.fates) - 1)]
        match item.kind:
            case Drawn.EACH:
                return "items", [{"By": "item", "At": n} for n in range(int(fate))]
            case Drawn.WHILE:
                return ("again" if index < int(fate) else "out"), None
            case Drawn.STOP:
                return STOPPED if fate == FAIL else ("out", "stopped")
            case Drawn.STEP if fate == FAIL:
                return FAILURE
            case Drawn.STEP:
                return "out", {"By": key, "At": place, "Saw": sight(given)}
            case Drawn.DELAY:
                return "out", given
            case Drawn.APPROVAL:
                return str(fate), {"decision": str(fate), **UNSAID}
            case _:
                return str(fate), given

    return answer


def decision(drawn: Sketch, key: NodeKey, path: Path) -> str:
    """Return the port that a person chooses."""
    item = next(item for item in drawn.items if item.key == key)
    return str(item.fates[min(_index(path) or 0, len(item.fates) - 1)])


def undecided(drawn: Sketch) -> Behaviour:
    """Return what the nodes do while no person decides anything: an approval never ends."""
    decided = behaviour(drawn)
    waits = {item.key for item in drawn.items if item.kind is Drawn.APPROVAL}

    def answer(key: NodeKey, path: Path, given: JsonValue, index: int) -> Fired | Failed:
        waiting = Failed("Waiting", fatal=True)
        return waiting if key in waits else decided(key, path, given, index)

    return answer


def sight(given: JsonValue) -> str:
    """Return what a step sees of its input, as its expression says it."""
    if isinstance(given, dict) and "By" not in given:
        return " ".join(sorted(f"{key}:{_name(value)}" for key, value in given.items()))
    return _name(given)


def _name(value: JsonValue) -> str:
    if isinstance(value, dict) and "By" in value:
        at = value["At"]
        return f"{value['By']}/{'null' if at is None else at}"
    kinds: Mapping[type, str] = {dict: "object", list: "array", str: "string", type(None): "null"}
    return kinds.get(type(value), "number")


def _index(path: Path) -> int | None:
    return [index for _, index, _ in enclosing(path)][-1] if path else None


def _node(item: Item, kind: str) -> Node:
    return Node(
        key=item.key,
        type=kind,
        parent=item.parent,
        on_error=item.on_error,
        disabled=item.disabled,
        parameters=_parameters(item),
    )


def _parameters(item: Item) -> JsonObject:
    fate = _fate(item)
    match item.kind:
        case Drawn.STEP:
            at = "$index" if item.parent else "null"
            shown = f'{{"By": "{item.key}", "At": {at}, "Saw": {_SIGHT}}}'
            return {"expression": f'{fate} = "{FAIL}" ? $error("planned") : {shown}'}
        case Drawn.SWITCH:
            cases = [port for port in item.ports if port != "default"]
            return {"cases": [{"port": c, "condition": f'{{{{ {fate} = "{c}" }}}}'} for c in cases]}
        case Drawn.IF:
            return {"condition": f'{{{{ {fate} = "true" }}}}'}
        case Drawn.APPROVAL:
            return {"assignees": ["role:office"]}
        case Drawn.DELAY:
            return {"duration": "PT1S"}
        case Drawn.STOP:
            failing = FAIL in item.fates
            return {"outcome": "error"} if failing else {"value": "stopped"}
        case Drawn.EACH | Drawn.WHILE:
            return _loop(item, fate)
    return {}


def _loop(item: Item, fate: str) -> JsonObject:
    if item.kind is Drawn.WHILE:
        limit: JsonObject = {} if item.limit is None else {"max_passes": item.limit}
        return {"condition": f"$index < {fate}", **limit}
    items = f'[$map([0..{fate} - 1], function($n) {{ {{"By": "item", "At": $n}} }})]'
    limit = {} if item.limit is None else {"max_items": item.limit}
    handling = "collect" if item.collect else "stop"
    return {
        "items": f"{{{{ {items} }}}}",
        "concurrency": item.concurrency,
        "on_item_error": handling,
        **limit,
    }


def _fate(item: Item) -> str:
    """Return the expression that looks up what a node does now.

    The condition of a while has its own `$index`, so its fate is the same in every pass around it.
    """
    fates = f"$trigger.plan.{item.key}"
    if item.parent is None or len(item.fates) == 1:
        return f"{fates}[0]"
    last = len(item.fates) - 1
    return f"{fates}[$index < {last} ? $index : {last}]"
