"""Faults that a compiler could have, planted in definitions, with workflows on which they bite."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

from stellwerk.kernel.json import JsonObject, JsonValue
from tests.proof.sketch import Fate, Sketch, approval, draw, each, repeat, step, switch

Plant = Callable[[JsonObject], None]


@dataclass(frozen=True)
class Fault:
    """A change of a definition, and workflows of which at least one shows it."""

    name: str
    plant: Plant
    drawn: tuple[Sketch, ...]


def _scopes(scope: JsonObject) -> Iterator[JsonObject]:
    yield scope
    for state in _object(scope["States"]).values():
        found = _object(state)
        branches = found.get("Branches", [found[p] for p in ("ItemProcessor",) if p in found])
        assert isinstance(branches, list)
        for branch in branches:
            yield from _scopes(_object(branch))


def _object(value: JsonValue) -> JsonObject:
    assert isinstance(value, dict), value
    return value


def _state(definition: JsonObject, name: str) -> JsonObject:
    """Return the one state of that name, of which `{key} ·` may be the beginning only."""
    states = [_object(scope["States"]) for scope in _scopes(definition)]
    found = [state for named in states for key, state in named.items() if _called(key, name)]
    assert len(found) == 1, f"{len(found)} states begin with {name!r}"
    return _object(found[0])


def _called(key: str, name: str) -> bool:
    return key.startswith(name) if name.endswith("·") else key == name


def _rules(state: JsonObject) -> list[JsonObject]:
    rules = state["Choices"]
    assert isinstance(rules, list)
    return [_object(rule) for rule in rules]


def _swap_default(name: str) -> Plant:
    def plant(definition: JsonObject) -> None:
        state = _state(definition, name)
        rule = _rules(state)[0]
        rule["Next"], state["Default"] = state["Default"], rule["Next"]

    return plant


def _hold(name: str, condition: str) -> Plant:
    """Replace a Choice's first condition."""

    def plant(definition: JsonObject) -> None:
        _rules(_state(definition, name))[0]["Condition"] = condition

    return plant


def _swap_rules(name: str) -> Plant:
    def plant(definition: JsonObject) -> None:
        first, second = _rules(_state(definition, name))[:2]
        first["Next"], second["Next"] = second["Next"], first["Next"]

    return plant


def _drop(name: str, field: str, entry: str = "") -> Plant:
    """Remove a field of a state, or one entry of the field."""

    def plant(definition: JsonObject) -> None:
        state = _state(definition, name)
        del (_object(state[field]) if entry else state)[entry or field]

    return plant


def _put(name: str, field: str, value: JsonValue, entry: str = "") -> Plant:
    """Replace a field of a state, or one entry of the field."""

    def plant(definition: JsonObject) -> None:
        state = _state(definition, name)
        target = _object(state[field]) if entry else state
        assert target[entry or field] != value
        target[entry or field] = value

    return plant


def _payload(name: str, field: str, value: JsonValue) -> Plant:
    def plant(definition: JsonObject) -> None:
        payload = _object(_object(_state(definition, name)["Arguments"])["Payload"])
        assert payload[field] != value
        payload[field] = value

    return plant


def _pass_over(name: str) -> Plant:
    """Let everything that leads to a state lead to the one after it."""

    def plant(definition: JsonObject) -> None:
        for scope in _scopes(definition):
            states = _object(scope["States"])
            for key in [key for key in states if _called(key, name)]:
                after = _object(states.pop(key))["Next"]
                scope["StartAt"] = after if scope["StartAt"] == key else scope["StartAt"]
                _retarget(states, key, after)

    return plant


def _retarget(value: JsonValue, old: str, new: JsonValue) -> None:
    if isinstance(value, list):
        for item in value:
            _retarget(item, old, new)
    elif isinstance(value, dict):
        for key, item in value.items():
            if key in {"Next", "Default"} and item == old:
                value[key] = new
            else:
                _retarget(item, old, new)


def _without_branch(name: str) -> Plant:
    def plant(definition: JsonObject) -> None:
        branches = _state(definition, name)["Branches"]
        assert isinstance(branches, list)
        branches.pop()

    return plant


def _twice(name: str) -> Plant:
    """Let a branch run beside itself, under other state names."""

    def plant(definition: JsonObject) -> None:
        branches = _state(definition, name)["Branches"]
        assert isinstance(branches, list)
        branch = _object(branches[0])
        states = {f"{key} again": state for key, state in _object(branch["States"]).items()}
        branches.append({"StartAt": f"{branch['StartAt']} again", "States": states})

    return plant


_JOIN = "t>s t>c s.c0>a s.default>b a>j c>j"
"""`j` joins `c` and, if `s` fires c0, `a`."""
_SHARED = "t>s t>c s.c0>a a>j c>r r.c0>j"
"""`j` is alive only if `s` or `r` says so: a guard."""
_DECIDED = "t>p t>a t>b a>j b>j j>k p.approved>k"
"""`j` joins `a` and `b` beside an approval: a gate."""


def _joins() -> tuple[Sketch, ...]:
    steps = [step(key) for key in "abcj"]
    return tuple(draw(_JOIN, switch("s", port), *steps) for port in ("c0", "default"))


def _guards() -> tuple[Sketch, ...]:
    return tuple(
        draw(_SHARED, switch("s", one), switch("r", two), *(step(key) for key in "acj"))
        for one in ("c0", "default")
        for two in ("c0", "default")
    )


def _gates() -> tuple[Sketch, ...]:
    return (draw(_DECIDED, approval("p", "approved"), *(step(key) for key in "abjk")),)


def _approvals() -> tuple[Sketch, ...]:
    return (draw("t>p p.approved>a", approval("p", "approved"), step("a")),)


def _dead_gates() -> tuple[Sketch, ...]:
    edges = "t>p t>s t>r s.c0>j r.c0>j j>k p.approved>k"
    steps = [step("j"), step("k"), approval("p", "approved")]
    return (draw(edges, switch("s", "default"), switch("r", "default"), *steps),)


def _each(*, collect: bool = False) -> tuple[Sketch, ...]:
    fates: tuple[Fate, ...] = ("out", "fail", "out") if collect else ("out",)
    body = [step("b", *fates, parent="l"), step("d", parent="l")]
    return (draw("t>l l>e b>d", each("l", 3, collect=collect), *body, step("e")),)


def _while() -> tuple[Sketch, ...]:
    body = [switch("y", "c0", "default", parent="w"), step("z", parent="w"), step("x", parent="w")]
    return (draw("t>w w>e y.c0>z y.default>x", repeat("w", 3), *body, step("e")),)


def _guarded_while() -> tuple[Sketch, ...]:
    """A body whose join `j` has a guard that asks `a`.

    alive in the first pass, dead in the second.
    """
    body = [
        switch("s", "c0", "default", parent="w"),
        switch("p", "default", parent="w"),
        *(step(key, parent="w") for key in "abqj"),
    ]
    edges = "t>w s.c0>a s.default>b a>p b>p a>q b>q p.c0>j a>j"
    return (draw(edges, repeat("w", 2), *body),)


def _handled() -> tuple[Sketch, ...]:
    return (draw("t>f f>a f.error>e", step("f", "fail", on_error="branch"), step("a"), step("e")),)


def _both_handled() -> tuple[Sketch, ...]:
    failing = [step(key, "fail", on_error="branch") for key in "fg"]
    return (draw("t>f f.error>g g.error>e", *failing, step("e")),)


def _guarded_failure() -> tuple[Sketch, ...]:
    """`j` is alive only because `f` has failed: a guard asks for its port."""
    failing = step("f", "fail", on_error="branch")
    return (draw("t>f t>s f.error>j s.c0>j", failing, switch("s", "default"), step("j")),)


def _failing() -> tuple[Sketch, ...]:
    return (draw("t>f t>a", step("f", "fail"), step("a")),)


def _nested() -> tuple[Sketch, ...]:
    return (draw("t>l", each("l", 2), each("m", 2, parent="l"), step("b", parent="m")),)


def _triggers() -> tuple[Sketch, ...]:
    return (draw("t>a u>b", step("a"), step("b"), triggers="t u"),)


def faults() -> tuple[Fault, ...]:
    """Return the planted faults."""
    return (
        Fault("a guard is dropped", _hold("j ? alive", "{% true %}"), _guards()),
        Fault("a guard is inverted", _swap_default("j ? alive"), _guards()),
        Fault("two ports are swapped", _swap_rules("s ? port"), _joins()),
        Fault("a loop ends when it should go on", _swap_default("w ? again"), _while()),
        Fault("a pass begins with the ports of the one before", _keep_ports, _guarded_while()),
        Fault("a scope begins without one of its variables", _forget_variable, _guards()),
        Fault("a branch does not hand out a port", _hand_out_null, _guards()),
        Fault("a fork takes a port up from the wrong branch", _wrong_branch, _guards()),
        Fault("a fork does not take a port up", _take_nothing, _guards()),
        Fault("a gate is missing", _pass_over("j : gate"), _gates()),
        Fault("a gate lets a dead join pass", _hold("j ? opened", "{% true %}"), _dead_gates()),
        Fault("a failure is not caught", _drop("f ·", "Catch"), _handled()),
        Fault("a caught failure is not recorded", _pass_over("! node failed"), _handled()),
        Fault("a failure goes on as another's", _swap_default("? node failed"), _both_handled()),
        Fault("a failure is journaled as another's", _another_failed, _both_handled()),
        Fault("a caught failure fires no port", _forget_failure, _guarded_failure()),
        Fault("an item's failure is not collected", _drop("l : item", "Catch"), _collected()),
        Fault("a body runs at the path of its loop", _payload("b ·", "path", ""), _each()),
        Fault("an inner body forgets the outer loop", _outer_forgotten, _nested()),
        Fault("a loop leaves out its last item", _items("[0..$states.input - 2]"), _each()),
        Fault("a loop begins with its second item", _items("[1..$states.input - 1]"), _each()),
        Fault("a loop has one item too many", _items("[0..$states.input]"), _each()),
        Fault("a loop runs more items at once", _put("l : items", "MaxConcurrency", 0), _each()),
        Fault("a while does not count", _put("w ·", "Assign", "{% $i_w %}", "i_w"), _while()),
        Fault("a loop's value is not collected", _pass_over("l : collected"), _each()),
        Fault("a step is passed over", _pass_over("z ·"), _while()),
        Fault("a step is called by another's key", _payload("a ·", "node", "j"), _joins()),
        Fault("a branch is left out", _without_branch("c + s"), _joins()),
        Fault("a branch runs twice", _twice("c + s"), _joins()),
        Fault("a run begins at another trigger", _swap_rules("? trigger"), _triggers()),
        Fault("an outcome is not read", _pass_over("p : outcome"), _approvals()),
        Fault("the error's name is lost", _put("! failed", "Error", "Failed"), _failing()),
    )


def _collected() -> tuple[Sketch, ...]:
    return _each(collect=True)


def _items(numbers: str) -> Plant:
    return _put("l : items", "Items", f"{{% {numbers} %}}")


def _outer_forgotten(definition: JsonObject) -> None:
    for scope in _scopes(definition):
        for state in _object(scope["States"]).values():
            assign = _object(_object(state).get("Assign", {}))
            if "p_m" in assign:
                assign["p_m"] = "{% 'm[' & $states.input & ']' %}"


def _another_failed(definition: JsonObject) -> None:
    output = _object(_catcher(definition, "g ·")["Output"])
    output["node"] = "f"


def _forget_failure(definition: JsonObject) -> None:
    del _catcher(definition, "f ·")["Assign"]


def _catcher(definition: JsonObject, name: str) -> JsonObject:
    catchers = _state(definition, name)["Catch"]
    assert isinstance(catchers, list)
    return _object(catchers[0])


def _keep_ports(definition: JsonObject) -> None:
    assign = _object(_state(definition, "w ·")["Assign"])
    resets = [name for name, value in assign.items() if value is None]
    assert resets
    for name in resets:
        del assign[name]


def _forget_variable(definition: JsonObject) -> None:
    for scope in _scopes(definition):
        for state in _object(scope["States"]).values():
            assign = _object(_object(state).get("Assign", {}))
            for name in [n for n, value in assign.items() if value is None and n[0] == "n"]:
                del assign[name]
                return
    raise AssertionError("no variable is opened")


def _exports(definition: JsonObject) -> Iterator[JsonObject]:
    for scope in _scopes(definition):
        for name, state in _object(scope["States"]).items():
            output = _object(state).get("Output")
            if name.startswith(": end") and isinstance(output, dict) and output:
                yield output


def _hand_out_null(definition: JsonObject) -> None:
    output = next(_exports(definition))
    output[next(iter(output))] = None


def _forks(definition: JsonObject) -> Iterator[JsonObject]:
    for scope in _scopes(definition):
        for state in _object(scope["States"]).values():
            if _object(state)["Type"] == "Parallel" and "Assign" in _object(state):
                yield _object(_object(state)["Assign"])


def _wrong_branch(definition: JsonObject) -> None:
    assign = next(_forks(definition))
    name = next(iter(assign))
    number = 1 if "[0]" in str(assign[name]) else 0
    assign[name] = str(assign[name]).replace(f"[{1 - number}]", f"[{number}]")


def _take_nothing(definition: JsonObject) -> None:
    assign = next(_forks(definition))
    del assign[next(iter(assign))]
