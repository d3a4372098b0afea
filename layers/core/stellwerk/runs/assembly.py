"""All run services over one world, put together once."""

from __future__ import annotations

from dataclasses import dataclass

from stellwerk.kernel.ids import NodeKey, Path, RunId
from stellwerk.runs.calls import RunRef
from stellwerk.runs.children import Children
from stellwerk.runs.chunkends import ChunkEnds
from stellwerk.runs.finishing import Endings
from stellwerk.runs.firing import Firing
from stellwerk.runs.gates import Gates, Level
from stellwerk.runs.replay import Replays
from stellwerk.runs.rerunning import Rerunning
from stellwerk.runs.rounds import Rounds
from stellwerk.runs.scopes import Scopes
from stellwerk.runs.service import RunService
from stellwerk.runs.starting import Starting
from stellwerk.runs.sweeping import Sweeper
from stellwerk.runs.tasks import TaskService
from stellwerk.runs.world import World
from stellwerk.tenancy.scope import Scope


@dataclass(frozen=True)
class Assembly:
    """The services of runs: for callers outside, the step wrapper, and system Lambdas."""

    world: World
    starting: Starting
    runs: RunService
    replays: Replays
    rerunning: Rerunning
    firing: Firing
    tasks: TaskService
    children: Children
    chunks: ChunkEnds
    gates: Gates
    scopes: Scopes
    endings: Endings
    sweeper: Sweeper
    rounds: Rounds

    @classmethod
    def of(cls, world: World) -> Assembly:
        """Return the services over `world`."""
        endings = Endings(world)
        starting = Starting(world, endings.turns)
        tasks = TaskService(world, endings)
        gates = Gates(world.journal, world.executions)
        replays = Replays(world, starting)
        rerunning = Rerunning(world, replays)
        endings.follow(rerunning.ended)
        sweeper = Sweeper(world, starting, endings, tasks, rerunning)
        return cls(
            world=world,
            starting=starting,
            runs=RunService(world, starting, endings, replays),
            replays=replays,
            rerunning=rerunning,
            firing=Firing(world, starting),
            tasks=tasks,
            children=Children(world, starting, endings),
            chunks=ChunkEnds(world),
            gates=gates,
            scopes=Scopes(world, endings.closing, gates),
            endings=endings,
            sweeper=sweeper,
            rounds=Rounds(world, sweeper),
        )

    def level(self, scope: Scope, run: RunRef, path: Path) -> Level:
        """Return the level of the run's nodes at `path`."""
        blueprint = self.world.blueprints.of(scope, run.workflow, run.version, run.trial)
        return Level(RunId(run.id), NodeKey(run.trigger), blueprint, path)
