"""The stages in order.

levels, analyses and plans; then machines, loops rolled over until all fit.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from stellwerk.catalogue.model import Catalogue
from stellwerk.kernel.ids import NodeKey
from stellwerk.workflows.compile.asl import definition
from stellwerk.workflows.compile.budget import (
    BYTES,
    EVENTS,
    LoopSpending,
    Spending,
    loops,
    spending,
)
from stellwerk.workflows.compile.ir import Choice, Fail
from stellwerk.workflows.compile.liveness import Liveness, bits
from stellwerk.workflows.compile.loops import Loops, at_once, child_scope
from stellwerk.workflows.compile.normalise import Level as NormalLevel
from stellwerk.workflows.compile.normalise import Step, normalise
from stellwerk.workflows.compile.plan import gates, plan
from stellwerk.workflows.compile.refusals import OverBudget
from stellwerk.workflows.compile.scopes import Scope
from stellwerk.workflows.compile.tasks import Emitter
from stellwerk.workflows.compile.tracks import Level, Track
from stellwerk.workflows.graph import Graph, graph_hash

CHUNK_EVENTS = EVENTS // 2
"""Events that one chunk of a loop may spend, if that is more than one pass."""
_CHUNK_FRAME = 100
"""Events of a child machine besides the passes."""


@dataclass(frozen=True)
class CompileOptions:
    """What a definition says besides the graph.

    `prefix` begins the names of the Lambdas; `comment` is for people in the console; `patient`
    treats every step as one that can wait, to measure how many joins would need a gate.
    """

    prefix: str = "stellwerk"
    comment: str = ""
    patient: bool = False
    events: int = EVENTS


@dataclass(frozen=True)
class Compiled:
    """State machines of a graph: its own, and by loop those that run chunks of it.

    `watch` names the gated steps to look at after a step has finished, `passes` the one port that a
    disabled step can fire. `forecast` bounds the machine's own executions, `gated` are the joins
    that are gates.
    """

    definition: str
    children: dict[NodeKey, str]
    graph_hash: str
    watch: dict[NodeKey, tuple[NodeKey, ...]]
    forecast: Spending
    passes: dict[NodeKey, str] = field(default_factory=dict)
    gated: frozenset[NodeKey] = field(default_factory=frozenset)


def compile_graph(graph: Graph, catalogue: Catalogue, options: CompileOptions) -> Compiled:
    """Compile a valid graph: the same graph gives the same bytes.

    Raises BadInput where the graph was not validated, OverBudget where forks nest too deep or a
    part outgrows what an execution may spend, naming the node that spends it.
    """
    workshop = Workshop(graph, catalogue, options)
    main, children = workshop.build()
    return Compiled(
        definition=workshop.text(main, ""),
        children={loop: workshop.text(scope, loop) for loop, scope in children.items()},
        graph_hash=graph_hash(graph),
        watch=workshop.watch(),
        passes=workshop.passes(),
        forecast=spending(main),
        gated=frozenset(workshop.gated()),
    )


class Workshop:
    """Holds the levels, analyses and plans of one graph while its machines are built."""

    def __init__(self, graph: Graph, catalogue: Catalogue, options: CompileOptions) -> None:
        self.options = options
        self.levels = normalise(graph, catalogue, patient=options.patient)
        self.analyses = {loop: Liveness(level) for loop, level in self.levels.items()}
        self.plans = {loop: plan(live) for loop, live in self.analyses.items()}
        self.containers: dict[NodeKey, Step] = {
            step.key: step
            for level in self.levels.values()
            for step in level.steps
            if step.key in self.levels
        }

    def build(self) -> tuple[Scope, dict[NodeKey, Scope]]:
        """Return the scopes of the machine and of its children, all within what may be spent."""
        chunks: dict[NodeKey, int] = {}
        while True:
            main = self._main(chunks)
            children = {loop: self._child(loop, chunks) for loop in sorted(chunks)}
            heavy = [s for s in (main, *children.values()) if spending(s).events > self._limit]
            if heavy:
                loop = self._heaviest(heavy[0], chunks)
                chunks[loop.loop] = self._size(loop)
                continue
            chunks, before = self._roomy(children, chunks), chunks
            if chunks == before:
                return main, children

    def _size(self, loop: LoopSpending) -> int:
        """How many passes a chunk may have."""
        return max(min(CHUNK_EVENTS, self._limit // 2) // max(loop.each.events, 1), 1)

    def _roomy(
        self, children: Mapping[NodeKey, Scope], chunks: Mapping[NodeKey, int]
    ) -> dict[NodeKey, int]:
        """Return the chunks as large as their passes allow, now that inner loops are rolled over.

        Chunks run one after the other. One with fewer passes than the loop may have at work at once
        would keep items waiting, so its heaviest inner loop is rolled over too.
        """
        sizes = dict(chunks)
        for loop, child in children.items():
            passes = {found.loop: found for found in loops(child)}
            sizes[loop] = self._size(passes[loop])
            others = (found for key, found in passes.items() if key not in chunks)
            inner = [found for found in others if found.events > _CHUNK_FRAME]
            if inner and sizes[loop] < at_once(self.containers[loop]):
                heaviest = max(inner, key=lambda found: (found.events, found.loop))
                sizes[heaviest.loop] = self._size(heaviest)
                return sizes
        return sizes

    @property
    def _limit(self) -> int:
        return self.options.events

    def _heaviest(self, scope: Scope, chunks: dict[NodeKey, int]) -> LoopSpending:
        """The loop to roll over.

        the one that spends most, of those of which one pass still fits.
        """
        inline = [loop for loop in loops(scope) if loop.loop not in chunks]
        fitting = [loop for loop in inline if loop.each.events <= self._limit - _CHUNK_FRAME]
        if not fitting:
            raise self._too_much(scope, inline)
        return max(fitting, key=lambda loop: (loop.events, loop.loop))

    def _too_much(self, scope: Scope, inline: list[LoopSpending]) -> OverBudget:
        events = spending(scope).events
        worst = max(inline, key=lambda loop: loop.events, default=None)
        where = f" Loop {worst.loop} alone spends {worst.events:,}." if worst else ""
        return OverBudget(
            f"A run could spend {events:,} history events, {self._limit:,} are allowed.{where}",
            node=worst.loop if worst else None,
        )

    def _emitter(self, chunks: dict[NodeKey, int]) -> tuple[Emitter, Loops]:
        containers = Loops(self.levels, self.analyses, self.plans, chunks)
        return Emitter(containers.emit), containers

    def _main(self, chunks: dict[NodeKey, int]) -> Scope:
        emitter, _ = self._emitter(chunks)
        live = self.analyses[None]
        level = Level(live, emitter, "")
        scope = child_scope()
        scope.entry["run"] = "{% $states.input.run %}"
        triggers = list(bits(live.sources))
        if len(triggers) == 1:
            scope.certain = level.keys(live.surely(triggers[0]))
        track = Track(level, scope, self.plans[None])
        starts = [(live.level.steps[trigger].key, track.enter(trigger)) for trigger in triggers]
        scope.start = starts[0][1] if len(starts) == 1 else _which_trigger(scope, starts)
        track.emit()
        return scope

    def _child(self, loop: NodeKey, chunks: dict[NodeKey, int]) -> Scope:
        emitter, containers = self._emitter(chunks)
        scope = child_scope()
        containers.child(emitter, self.containers[loop], scope)
        return scope

    def text(self, scope: Scope, loop: str) -> str:
        """Return the definition of a machine; raise OverBudget where it is too large."""
        comment = self.options.comment + (f" · {loop}" if loop else "")
        text = definition(scope, prefix=self.options.prefix, comment=comment)
        size = len(text.encode())
        if size > BYTES:
            raise OverBudget(f"The definition has {size:,} bytes, {BYTES:,} are allowed.")
        return text

    def gated(self) -> list[NodeKey]:
        """Return the steps whose joins are gates."""
        return [self._steps(loop)[step].key for loop, step in self._gates()]

    def watch(self) -> dict[NodeKey, tuple[NodeKey, ...]]:
        """Return for each step the gates that it may be the last to decide."""
        found: dict[NodeKey, tuple[NodeKey, ...]] = {}
        for loop, gate in self._gates():
            steps = self._steps(loop)
            for ancestor in bits(self.analyses[loop].ancestors[gate]):
                key = steps[ancestor].key
                found[key] = tuple(sorted({*found.get(key, ()), steps[gate].key}))
        return dict(sorted(found.items()))

    def passes(self) -> dict[NodeKey, str]:
        """Return the port that each disabled step fires."""
        steps = (step for level in self.levels.values() for step in level.steps)
        return {step.key: step.fires[0] for step in steps if step.disabled}

    def _gates(self) -> list[tuple[NodeKey | None, int]]:
        return [(loop, gate) for loop, moves in self.plans.items() for gate in gates(moves)]

    def _steps(self, loop: NodeKey | None) -> tuple[Step, ...]:
        level: NormalLevel = self.levels[loop]
        return level.steps


def _which_trigger(scope: Scope, starts: list[tuple[NodeKey, str]]) -> str:
    """Add the switch between a workflow's triggers."""
    name = scope.names.state("? trigger")
    unknown = scope.names.state("! unknown trigger")
    rules = tuple(
        (f"$states.context.Execution.Input.trigger = '{key}'", state) for key, state in starts
    )
    scope.add(Choice(name, rules, unknown))
    scope.add(Fail(unknown, "UnknownTrigger", "The run names a trigger that its version lacks."))
    return name
