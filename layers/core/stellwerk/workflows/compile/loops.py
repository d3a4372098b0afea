"""Third pass, the containers.

`for_each` as a Map, `while` as a cycle, and both rolled over to child machines.

A loop whose passes could outgrow an execution's event history runs in chunks: the state machine
starts a child machine per chunk and waits for its token. Children hand nothing back: the journal
has it.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

from stellwerk.catalogue.model import Kind
from stellwerk.kernel.ids import NodeKey
from stellwerk.kernel.json import JsonValue
from stellwerk.workflows.compile.ir import EVERY_ERROR, Catch, Choice, Map, Parallel, Task
from stellwerk.workflows.compile.liveness import ENTRY, Liveness
from stellwerk.workflows.compile.normalise import Levels, Step
from stellwerk.workflows.compile.plan import Sequence
from stellwerk.workflows.compile.scopes import Cycle, Names, Scope
from stellwerk.workflows.compile.tasks import (
    INPUT,
    RUN,
    SYSTEM,
    Emitter,
    answer,
    number_of,
)
from stellwerk.workflows.compile.tracks import Exits, Facts, Level, Track

DEFAULT_ITEMS = 1000
DEFAULT_PASSES = 100
ENDING = ("StoppedWithError", "RunCancelled")
"""Errors that end the run, whatever a loop does with others."""
BASE = "{% $base %}"
"""The path of a chunk's loop, in its child machine."""


@dataclass(frozen=True)
class Loops:
    """Emits containers.

    `chunks` names the loops that run as child machines, with passes per chunk.
    """

    levels: Levels
    analyses: Mapping[NodeKey | None, Liveness]
    plans: Mapping[NodeKey | None, Sequence]
    chunks: Mapping[NodeKey, int]

    def emit(
        self, emitter: Emitter, track: Track, step: Step, number: int, name: str, exits: Exits
    ) -> None:
        """Add the states of a loop, the first of them called `name`."""
        if step.key in self.chunks:
            chunked = self._chunked_map if step.kind is Kind.FOR_EACH else self._chunked_cycle
            chunked(emitter, track, step, name, exits)
        elif step.kind is Kind.FOR_EACH:
            self._map(emitter, track, step, name, exits)
        else:
            self._while(emitter, track, step, number, name, exits)

    def child(self, emitter: Emitter, step: Step, scope: Scope) -> None:
        """Fill the scope of the child machine that runs one chunk of a loop."""
        names = scope.names
        scope.entry |= {"run": RUN.replace("run", "states.input.run")}
        scope.entry |= {f: f"{{% $states.input.{s} %}}" for f, s in _CHUNK.items()}
        finished = names.state(f"{step.key} : chunk finished")
        outer = Level(self.analyses[step.key], emitter, BASE)
        track = Track(outer, scope, ())
        if step.kind is Kind.FOR_EACH:
            scope.start = names.state(f"{step.key} · {step.title}")
            numbers = "[$from..$to - 1]"  # what fails here is the parent's to close
            self._items(emitter, track, step, scope.start, finished, (numbers, ()))
        else:
            scope.start = names.state(f"{step.key} ? chunk over")
            scope.entry[_counter(step)] = "{% $states.input.from %}"
            check = names.state(f"{step.key} · {step.title}")
            rule = (f"${_counter(step)} >= $to", finished)
            scope.add(Choice(scope.start, (rule,), check))
            self._cycle(emitter, track, step, check, scope.start, finished)
        payload: dict[str, JsonValue] = {"run": RUN, "path": BASE, "node": step.key}
        payload["chunk"] = "{% $chunk %}"
        scope.add(Task(finished, "system-chunk_finished", payload, None, again=(SYSTEM,)))

    def _map(self, emitter: Emitter, track: Track, step: Step, name: str, exits: Exits) -> None:
        names = track.scope.names
        each, done = (names.state(f"{step.key} : {part}") for part in ("items", "collected"))
        catch = emitter.failing(track, step, exits)
        opening = {"phase": "open"}
        emitter.task(track, step, name, each, more=opening, catch=catch, output=answer("size"))
        failing = self._failing(emitter, track, step, catch)
        self._items(emitter, track, step, each, done, ("[0..$states.input - 1]", failing))
        after = emitter.leave(track, step, exits)
        closing = {"phase": "close"}
        emitter.task(track, step, done, after, more=closing, catch=catch, fires=step.key)

    def _items(
        self,
        emitter: Emitter,
        track: Track,
        step: Step,
        name: str,
        after: str,
        over: tuple[str, tuple[Catch, ...]],
    ) -> None:
        """The Map over the items' numbers; `over` gives those and what catches an error."""
        scope = track.scope
        iteration = Scope(scope, scope.names, certain=frozenset())
        path = _path(track, step, "$states.input")
        iteration.entry[_place(step)] = f"{{% {path} %}}"
        if step.parameters.get("on_item_error") == "collect":
            self._collecting(emitter, iteration, step)
        else:
            self._body(emitter, iteration, step, end=None)
        numbers, failing = over
        scope.add(
            Map(
                name=name,
                loop=step.key,
                items=f"{{% {numbers} %}}",
                concurrency=number_of(step, "concurrency", 1),
                body=iteration,
                most=self._most(step),
                next=after,
                catch=failing,
            )
        )

    def _most(self, step: Step) -> int:
        most = number_of(step, "max_items", DEFAULT_ITEMS)
        return min(most, self.chunks.get(step.key, most))

    def _collecting(self, emitter: Emitter, iteration: Scope, step: Step) -> None:
        """The body as a branch of its own, so that an item's error ends at its border."""
        names = iteration.names
        branch = Scope(iteration, names, certain=frozenset())
        self._body(emitter, branch, step, end=None)
        item, failed = (names.state(f"{step.key} : item"), names.state(f"{step.key} ! item failed"))
        iteration.start = item
        level = Level(self.analyses[step.key], emitter, f"{{% ${_place(step)} %}}")
        ends = Catch(ENDING, emitter.closing(Track(level, iteration, ())))
        iteration.add(Parallel(item, (branch,), None, (ends, Catch((EVERY_ERROR,), failed))))
        payload = {"run": RUN, "path": f"{{% ${_place(step)} %}}", "node": step.key, "error": INPUT}
        iteration.add(Task(failed, "system-scope_closed", payload, None, again=(SYSTEM,)))

    def _body(self, emitter: Emitter, scope: Scope, step: Step, end: str | None) -> None:
        """The states of a loop's body in `scope`, from its start to `end`."""
        live = self.analyses[step.key]
        level = Level(live, emitter, f"{{% ${_place(step)} %}}")
        scope.certain |= level.keys(live.certain(ENTRY))
        track = Track(level, scope, self.plans[step.key], end)
        scope.start = track.go(0, Facts(frozenset({ENTRY})))
        track.emit()

    def _while(
        self, emitter: Emitter, track: Track, step: Step, number: int, name: str, exits: Exits
    ) -> None:
        if step.failure_port is None:
            track.scope.entry[_counter(step)] = "{% 0 %}"
            self._cycle(emitter, track, step, name, name, exits("out"))
            return
        scope = track.scope
        branch = Scope(scope, scope.names, certain=frozenset())
        branch.entry[_counter(step)] = "{% 0 %}"
        inner = Track(track.level, branch, ())
        branch.start = scope.names.state(f"{step.key} : check")
        self._cycle(emitter, inner, step, branch.start, branch.start, None)
        catch = self._failing(emitter, track, step, emitter.failing(track, step, exits))
        scope.add(Parallel(name, (branch,), exits("out"), catch, fires=step.key))

    def _cycle(
        self, emitter: Emitter, track: Track, step: Step, name: str, again: str, after: str | None
    ) -> None:
        """Check, body, check, ...: `again` is where a pass ends, `after` where the loop does."""
        scope = track.scope
        first = len(scope.states)
        body = Scope(scope, scope.names, certain=frozenset(), inline=True)
        self._body(emitter, body, step, end=again)
        counter = _counter(step)
        choose = scope.names.state(f"{step.key} ? again")
        emitter.task(
            track,
            step,
            name,
            choose,
            more={"phase": "check", "index": f"{{% ${counter} %}}"},
            fires=None if step.failure_port else step.key,
            assign={
                counter: f"{{% ${counter} + 1 %}}",
                f"c_{step.key}": answer("port"),
                _place(step): f"{{% {_path(track, step, f'${counter}')} %}}",
            },
            resets=body,
        )
        scope.add(Choice(choose, ((f"$c_{step.key} = 'again'", body.start),), after))
        most = number_of(step, "max_passes", DEFAULT_PASSES) + 1
        most = min(most, self.chunks.get(step.key, most))
        scope.cycles.append(Cycle(step.key, first, len(scope.states) - 1, most))

    def _failing(
        self, emitter: Emitter, track: Track, step: Step, catch: tuple[Catch, ...]
    ) -> tuple[Catch, ...]:
        """What catches a loop's error: its `on_error` after its passes are closed, or the end."""
        closing = emitter.closing(track, step.key)
        if not catch:
            return (Catch((EVERY_ERROR,), closing),)
        name = track.scope.names.state(f"{step.key} ! closed")
        error = "{% $states.input.error %}"
        payload = {"run": RUN, "path": track.level.path, "loop": step.key, "error": error}
        again = (SYSTEM,)
        track.scope.add(
            Task(name, "system-scope_closed", payload, catch[0].next, again=again, output=INPUT)
        )
        return (Catch(ENDING, closing), replace(catch[0], next=name))

    def _chunked_map(
        self, emitter: Emitter, track: Track, step: Step, name: str, exits: Exits
    ) -> None:
        scope, names = track.scope, track.scope.names
        each, one, done = (
            names.state(f"{step.key} : {part}") for part in ("chunks", "chunk", "collected")
        )
        size = self.chunks[step.key]
        catch = emitter.failing(track, step, exits)
        opening: dict[str, JsonValue] = {"phase": "open", "chunk_size": size}
        emitter.task(track, step, name, each, more=opening, catch=catch, output=answer("chunks"))
        iteration = Scope(scope, names, certain=frozenset())
        iteration.start = one
        inner = Track(track.level, iteration, ())
        chunk: dict[str, JsonValue] = {"phase": "chunk", "chunk": INPUT, "chunk_size": size}
        emitter.task(inner, step, one, None, more=chunk, token=True)
        most = -(-number_of(step, "max_items", DEFAULT_ITEMS) // size)
        scope.add(
            Map(
                name=each,
                loop=step.key,
                items="{% [0..$states.input - 1] %}",
                concurrency=1,  # a chunk runs its own items side by side
                body=iteration,
                most=most,
                next=done,
                catch=self._failing(emitter, track, step, catch),
            )
        )
        after = emitter.leave(track, step, exits)
        emitter.task(track, step, done, after, more={"phase": "close"}, catch=catch, fires=step.key)

    def _chunked_cycle(
        self, emitter: Emitter, track: Track, step: Step, name: str, exits: Exits
    ) -> None:
        """Start a chunk of passes, read whether the loop has ended, and again."""
        scope, counter = track.scope, _counter(step)
        scope.entry[counter] = "{% 0 %}"
        caught = emitter.failing(track, step, exits)
        catch = self._failing(emitter, track, step, caught)
        ask = scope.names.state(f"{step.key} : chunk over")
        choose = scope.names.state(f"{step.key} ? again")
        first = len(scope.states)
        chunk: dict[str, JsonValue] = {"phase": "chunk", "chunk": f"{{% ${counter} %}}"}
        chunk["chunk_size"] = self.chunks[step.key]
        emitter.task(track, step, name, ask, more=chunk, catch=catch, token=True)
        emitter.task(
            track,
            step,
            ask,
            choose,
            more={"phase": "resume"},
            catch=catch,
            fires=step.key,
            assign={counter: f"{{% ${counter} + 1 %}}"},
        )
        variable = scope.own(step.key)
        scope.add(Choice(choose, ((f"${variable} = 'again'", name),), exits("out")))
        most = -(-number_of(step, "max_passes", DEFAULT_PASSES) // self.chunks[step.key]) + 1
        scope.cycles.append(Cycle(step.key, first, len(scope.states) - 1, most))


def at_once(loop: Step) -> int:
    """Return how many passes of a loop may be at work at the same time."""
    if loop.kind is not Kind.FOR_EACH:
        return 1
    most = number_of(loop, "max_items", DEFAULT_ITEMS)
    return min(number_of(loop, "concurrency", 1), most)


_CHUNK = {"base": "path", "chunk": "chunk", "from": "from", "to": "to"}


def child_scope() -> Scope:
    """Return the scope of a new machine."""
    return Scope(None, Names(), certain=frozenset())


def _place(step: Step) -> str:
    """The variable that holds the path of a loop's present pass."""
    return f"p_{step.key}"


def _counter(step: Step) -> str:
    return f"i_{step.key}"


def _path(track: Track, step: Step, index: str) -> str:
    """JSONata of the path of pass `index` of a loop that runs in `track`."""
    outer = track.level.path
    if not outer:
        return f"'{step.key}[' & {index} & ']'"
    variable = outer.removeprefix("{% ").removesuffix(" %}")
    if outer == BASE:
        head = f"({variable} = '' ? '' : {variable} & '.') & '{step.key}['"
    else:
        head = f"{variable} & '.{step.key}['"
    return f"{head} & {index} & ']'"
