"""Everything outside the run services, in one hand: stores, executions, node types, time."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from stellwerk.catalogue.model import Catalogue
from stellwerk.kernel.clock import Clock
from stellwerk.runs.blueprints import Blueprints
from stellwerk.runs.following import Chore, Follower
from stellwerk.runs.model import Run
from stellwerk.runs.platform import Actors, Guests, Marks, Places, Shares, Uploads
from stellwerk.runs.ports import Due, Executions, Jobs, Journal, Runs, Tasks, Trials, Waits
from stellwerk.runs.values import Keeper
from stellwerk.tenancy.bus import Bus
from stellwerk.tenancy.deputies import Deputies
from stellwerk.tenancy.notices import Notices
from stellwerk.tenancy.scope import Scope
from stellwerk.workflows.graph import Graph
from stellwerk.workflows.ports import Machines, Things, Versions


@dataclass(frozen=True)
class World:
    """What the run services read and change."""

    journal: Journal
    runs: Runs
    tasks: Tasks
    waits: Waits
    due: Due
    executions: Executions
    versions: Versions
    blueprints: Blueprints
    values: Keeper
    catalogue: Catalogue
    clock: Clock
    actors: Actors
    """What owners may do, for whom runs act that start by themselves."""
    machines: Machines | None = None
    """Where machines are that nobody needs any more; None: this process removes none."""
    trials: Trials | None = None
    """What lets drafts run; None: this process starts none."""
    things: Mapping[str, Things] = field(default_factory=dict)
    """What versions and tasks name, by kind."""
    places: Places | None = None
    """All mandates and instances, for the sweeper; None: this process sweeps none."""
    marks: Marks | None = None
    """Where the sweeper has stopped."""
    jobs: Jobs | None = None
    """Where replays of many runs are kept; None: this process makes none."""
    shares: Shares | None = None
    """How many runs of a mandate may be open; None: as many as there are."""
    notices: Notices | None = None
    """Who tells people; None: this process tells nobody."""
    follower: Follower | None = None
    """Who takes in how runs end; None: nobody does."""
    chores: tuple[Chore, ...] = ()
    """What the sweeper does besides."""
    bus: Bus | None = None
    """Where events are told; None: nowhere."""
    deputies: Deputies | None = None
    """Who stands in for whom; None: nobody does."""
    guests: Guests | None = None
    """Where people without an account may decide; None: nowhere."""
    uploads: Uploads | None = None
    """The files that can be handed in with a decision; None: there are none."""

    def graph(self, scope: Scope, run: Run) -> Graph:
        """Return the graph that `run` executes."""
        return self.blueprints.of(scope, run.workflow, run.version, run.trial).graph
