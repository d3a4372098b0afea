"""Jobs that replay many failed runs: begun by a person, driven by the ends of their runs.

No process waits for a job. Whenever one of its runs ends, and whenever the sweeper comes round, the
job is looked at anew: what has ended is noted, and what may start is started. A replay is found
again by a delivery id of its own, so each run is replayed at most once by a job, whatever dies.
"""

from __future__ import annotations

import logging
from collections.abc import Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet
from functools import partial

from stellwerk.kernel.errors import BadInput, Conflict, Forbidden, PermanentError, StellwerkError
from stellwerk.kernel.ids import RunId, UserId, new_id
from stellwerk.kernel.json import JsonValue
from stellwerk.kernel.pages import Page
from stellwerk.runs.contention import settle
from stellwerk.runs.jobs import MOST, Job, JobStatus, Member, MemberStatus, Wanted
from stellwerk.runs.launching import machine_of
from stellwerk.runs.limits import ConcurrencyReached
from stellwerk.runs.model import Run, RunStatus
from stellwerk.runs.names import origin_of
from stellwerk.runs.pinning import find_workflow
from stellwerk.runs.ports import Jobs, RunFilter
from stellwerk.runs.replay import Replays
from stellwerk.runs.rights import RUNS, check_start, check_workflow, only_own
from stellwerk.runs.world import World
from stellwerk.tenancy.access import Verb
from stellwerk.tenancy.scope import Scope, require
from stellwerk.workflows.model import Workflow

LOG = logging.getLogger(__name__)
_PAGE = 100


class Rerunning:
    """Begins jobs, shows them, and lets them go on."""

    def __init__(self, world: World, replays: Replays) -> None:
        self._world = world
        self._replays = replays

    def begin(
        self,
        scope: Scope,
        workflow: str,
        *,
        wanted: Wanted | None = None,
        version: int | None = None,
        assume_done: Mapping[str, JsonValue] | None = None,
        repeat: AbstractSet[str] = frozenset(),
        confirm_writes: bool = False,
    ) -> Job:
        """Replay the failed runs of a workflow, by slug or id, on `version`, else the published.

        Raises BadInput where none fits or more than a thousand do, Forbidden, NotFound, Conflict
        where the version cannot start.
        """
        check_start(scope)
        found = find_workflow(self._world, scope, workflow)
        check_workflow(scope, found)
        now = self._world.clock.now()
        job = Job(
            id=new_id(now),
            workflow=found.id,
            user=scope.user,
            created=now,
            wanted=wanted or Wanted(),
            version=self._target(scope, found, version),
            assume_done={**(assume_done or {})},
            repeat=frozenset(repeat),
            confirm_writes=confirm_writes,
        )
        members = tuple(Member(source=run) for run in self._chosen(scope, job))
        return self._begin(scope, job.model_copy(update={"members": members}))

    def get(self, scope: Scope, job: str) -> Job:
        """Return the job; raise NotFound where the scope may not read the runs of its user."""
        found = self._jobs.get(scope, job)
        require(scope, RUNS, Verb.READ, found.user)
        return found

    def list(self, scope: Scope, *, cursor: str | None = None, limit: int = 50) -> Page[Job]:
        """Return a page of jobs that the scope may read, the newest first; it may be short."""
        own = only_own(scope)
        found = self._jobs.list(scope, cursor=cursor, limit=limit)
        return Page([job for job in found.items if own in {None, job.user}], found.cursor)

    def cancel(self, scope: Scope, job: str) -> Job:
        """Start no further replay; those under way go on. Raise Conflict if it is over."""
        found = self.get(scope, job)
        require(scope, RUNS, Verb.UPDATE, found.user)
        return self._cancel(scope, found)

    def advance(self, scope: Scope, job: str) -> Job:
        """Note which replays have ended, and start those whose turn it is."""
        return settle(partial(self._advanced, scope, job))

    def ended(self, scope: Scope, run: Run) -> None:
        """Let the job of a run that is over go on; what hinders that is left to the sweeper."""
        if not run.job:
            return
        try:
            self.advance(scope, run.job)
        except StellwerkError:
            LOG.exception("replay job %s does not go on by itself", run.job)

    def unfinished(self, scope: Scope) -> Iterator[Job]:
        """Yield the jobs that are not over, for the sweeper."""
        if self._world.jobs is not None:
            yield from self._world.jobs.open(scope)

    def _begin(self, scope: Scope, job: Job) -> Job:
        return self.advance(scope, self._jobs.create(scope, job).id)

    def _cancel(self, scope: Scope, job: Job) -> Job:
        return settle(partial(self._write_cancelled, scope, job.id))

    def _write_cancelled(self, scope: Scope, job: str) -> Job:
        found = self._jobs.get(scope, job)
        if found.status is not JobStatus.RUNNING:
            raise Conflict(f"Replay job {job} is {found.status}.", remedy="It starts nothing more.")
        over = {"status": JobStatus.CANCELLED, "ended": self._world.clock.now()}
        over["reason"] = f"{scope.user} cancelled it."
        return self._jobs.write(scope, found.model_copy(update=over))

    @property
    def _jobs(self) -> Jobs:
        if self._world.jobs is None:
            raise Conflict("this process keeps no replay jobs")
        return self._world.jobs

    def _target(self, scope: Scope, workflow: Workflow, version: int | None) -> int:
        number = version or workflow.published
        if not number:
            raise BadInput(
                f"Workflow '{workflow.slug}' has no published version.",
                remedy="Publish the version that mends it, or name one.",
            )
        found = self._world.versions.get(scope, workflow.id, number)
        machine_of(found)
        if found.retiring is not None:
            raise Conflict(
                f"Version {number} is no longer published: nothing new starts on it.",
                remedy="Replay on the published version.",
            )
        return number

    def _chosen(self, scope: Scope, job: Job) -> Sequence[RunId]:
        """Return the failed runs, the oldest first; of those that replay one another the newest."""
        newest: dict[RunId, RunId] = {}
        for run in self._failed(scope, job, only_own(scope)):
            newest.setdefault(origin_of(run), run.id)
        if not newest or len(newest) > MOST:
            many = f"more than {MOST}" if newest else "none"
            raise BadInput(
                f"Of the failed runs of workflow {job.workflow} {many} fit.",
                remedy="Ask for others: by version, time and type of error.",
            )
        return [*reversed(newest.values())]

    def _failed(self, scope: Scope, job: Job, own: UserId | None) -> Iterator[Run]:
        """Yield the runs that the job wants, the newest first, as far as the limit goes."""
        want = job.wanted
        wanted = RunFilter(
            job.workflow, want.version, RunStatus.FAILED, None, own, want.since, want.until
        )
        cursor: str | None = None
        seen = 0
        while seen <= MOST:
            page = self._world.runs.list(scope, wanted, cursor=cursor, limit=_PAGE)
            for run in page.items:
                failed = run.error.type if run.error else ""
                if run.mode == "live" and run.parent is None and want.error in {None, failed}:
                    seen += 1
                    yield run
            cursor = page.cursor
            if cursor is None:
                return

    def _advanced(self, scope: Scope, name: str) -> Job:
        before = self._jobs.get(scope, name)
        if before.status is not JobStatus.RUNNING:
            return self._noted(scope, before)
        job = self._looked(scope, before).judged(self._world.clock.now())
        job = self._begun(scope, job).judged(self._world.clock.now())
        return job if job == before else self._jobs.write(scope, job)

    def _noted(self, scope: Scope, before: Job) -> Job:
        """Return a job that is over with what has become of the replays that were under way."""
        job = self._looked(scope, before)
        return job if job == before else self._jobs.write(scope, job)

    def _looked(self, scope: Scope, job: Job) -> Job:
        under_way = [one for one in job.members if one.status is MemberStatus.STARTED and one.run]
        for member in under_way:
            run = self._world.runs.get(scope, member.run or member.source)
            if not run.status.open:
                job = job.with_member(_ended(member, run))
        return job

    def _begun(self, scope: Scope, job: Job) -> Job:
        while startable := job.startable:
            for member in startable:
                try:
                    job = job.with_member(self._replayed(scope, job, member))
                except ConcurrencyReached:  # when one of the workflow's runs ends, or next time
                    return job
                except Forbidden as refusal:
                    stopped = {"status": JobStatus.STOPPED, "reason": str(refusal)}
                    ended = self._world.clock.now()
                    return job.model_copy(update={**stopped, "ended": ended})
        return job

    def _replayed(self, scope: Scope, job: Job, member: Member) -> Member:
        acting = self._world.actors.acting(scope, job.user)
        check_start(acting)
        source = self._world.runs.get(scope, member.source)
        wish = job.wish(self._replays.doubted(scope, source))
        try:
            again = () if job.confirm_writes else self._replays.writes_again(acting, source, wish)
            if again:
                named = ", ".join(key.text for key in again)
                return _skipped(member, f"These steps would write again: {named}.")
            delivery = f"replay:{job.id}:{source.id}"
            run = self._replays.replay(acting, source, wish, delivery=delivery, job=job.id)
        except (ConcurrencyReached, Forbidden):
            raise
        except PermanentError as error:
            return _skipped(member, f"{error.message} {error.remedy}".strip())
        return member.model_copy(update={"status": MemberStatus.STARTED, "run": run.id})


def _skipped(member: Member, why: str) -> Member:
    return member.model_copy(update={"status": MemberStatus.SKIPPED, "note": why})


def _ended(member: Member, run: Run) -> Member:
    if run.status is RunStatus.COMPLETED:
        return member.model_copy(update={"status": MemberStatus.SUCCEEDED})
    told = f"{run.error.type}: {run.error.message}" if run.error else str(run.status)
    note = f"Run {run.id}, which replays {member.source}, is {run.status}. {told}"
    return member.model_copy(update={"status": MemberStatus.FAILED, "note": note})
