"""Compares what a machine did with what the reference says may happen."""

from __future__ import annotations

from dataclasses import dataclass, field

from stellwerk.kernel.json import JsonValue
from tests.proof.outcome import SEVERAL, Outcome, Place, Ran


@dataclass
class Observed:
    """What a run did. `error` is the type and place of what failed it, `wrong` what is not right
    whatever the reference says, `inputs` whether the inputs of nodes are known.
    """

    completed: bool
    output: JsonValue = None
    ran: dict[Place, Ran] = field(default_factory=dict)
    failed: set[Place] = field(default_factory=set)
    error: tuple[str, Place] | None = None
    wrong: list[str] = field(default_factory=list)
    inputs: bool = True


def differences(expected: Outcome, observed: Observed) -> list[str]:
    """Return what the meaning does not allow; nothing if the run did right.

    Nothing is compared where the meaning allows more than one ending.
    """
    if expected.ambiguous:
        return observed.wrong
    found = [*observed.wrong, *_executions(expected, observed), *_ending(expected, observed)]
    strangers = observed.failed - expected.failed
    return [*found, *(f"{_text(place)} failed and should not" for place in sorted(strangers))]


def _executions(expected: Outcome, observed: Observed) -> list[str]:
    found = [f"{_text(place)} did not run" for place in sorted(expected.certain - {*observed.ran})]
    for place, ran in sorted(observed.ran.items(), key=lambda pair: pair[0]):
        right = expected.ran.get(place)
        if right is None:
            found.append(f"{_text(place)} ran and should not")
            continue
        for what in ("port", "value", *(["input"] if observed.inputs else [])):
            is_, should = plain(getattr(ran, what)), plain(getattr(right, what))
            if not agree(is_, should):
                found.append(f"{_text(place)}: {what} is {is_!r}, should be {should!r}")
    return found


def _ending(expected: Outcome, observed: Observed) -> list[str]:
    if observed.completed != expected.completed:
        words = {True: "completed", False: "failed"}
        why = f" with {observed.error}" if observed.error else ""
        ended, right = words[observed.completed], words[expected.completed]
        return [f"the run {ended}{why}, should have {right}"]
    if expected.completed:
        is_, should = plain(observed.output), plain(expected.output)
        return [] if agree(is_, should) else [f"the output is {is_!r}, should be {should!r}"]
    possible = {(error.type, error.place) for error in expected.errors}
    if observed.error in possible:
        return []
    return [f"the error is {observed.error}, should be one of {sorted(possible)}"]


def plain(value: JsonValue) -> JsonValue:
    """Return the value without what the meaning leaves open.

    Of errors their type remains: which one came first may be open; of decisions, what was decided.
    """
    if isinstance(value, list):
        return [plain(item) for item in value]
    if not isinstance(value, dict):
        return value
    error = value.get("error")
    if set(value) == {"error"} and isinstance(error, dict):
        return {"error": error.get("type")}
    if "decision" in value:
        return {"decision": value["decision"]}
    return {key: plain(item) for key, item in value.items()}


def agree(is_: JsonValue, should: JsonValue) -> bool:
    """Whether two plain values are equal, as far as the second is certain."""
    if isinstance(is_, list) and isinstance(should, list):
        return len(is_) == len(should) and all(map(agree, is_, should))
    if isinstance(is_, dict) and isinstance(should, dict):
        if should == {"error": SEVERAL}:
            return set(is_) == {"error"}
        return set(is_) == set(should) and all(agree(is_[key], should[key]) for key in is_)
    return type(is_) is type(should) and is_ == should


def _text(place: Place) -> str:
    return f"{place[0]}.{place[1]}" if place[0] else place[1]
