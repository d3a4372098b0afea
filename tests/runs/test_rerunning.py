"""Jobs that replay many failed runs: canary, then ten, then all; each run at most once."""

from __future__ import annotations

from dataclasses import replace

import pytest

from stellwerk.kernel.errors import BadInput, Conflict, Forbidden, NotFound
from stellwerk.kernel.json import JsonObject
from stellwerk.runs.assembly import Assembly
from stellwerk.runs.finishing import Ended
from stellwerk.runs.jobs import Job, JobStatus, MemberStatus, Wanted
from stellwerk.runs.model import Run, RunStatus, StepStatus
from stellwerk.workflows.model import Overflow, VersionStatus
from tests.runs.stage import FOREIGN, Crash, Power, Stage, fragile, graph
from tests.runs.test_turns import limited

BROKEN = graph(
    {"start": "trigger", "set": "data.set", "note": "data.set"}, ["start set", "set note"]
)
MENDED = graph(
    {
        "start": "trigger",
        "set": "data.set",
        "note": {"type": "data.set", "parameters": {"fields": {}}},
    },
    ["start set", "set note"],
)


def failed(stage: Stage, count: int, *, node: str = "note") -> list[Run]:
    """Return runs of which `note` has failed, the oldest first."""
    runs = []
    for _ in range(count):
        stage.clock.advance(seconds=1)
        run = stage.start()
        stage.write(run, "start")
        stage.write(run, "set", value=stage.keep({"a": 1}))
        stage.fail(run, node)
        runs.append(end(stage, run, "FAILED"))
    return runs


def end(stage: Stage, run: Run, status: str = "SUCCEEDED") -> Run:
    ended = Ended(status, "PermanentError" if status == "FAILED" else "")
    return stage.assembly.endings.execution_ended(stage.scope, run, ended)


def begin(stage: Stage, **wanted: object) -> Job:
    return stage.assembly.rerunning.begin(stage.scope, "demo", wanted=Wanted(**wanted))


def replays(stage: Stage, job: Job) -> list[Run]:
    """Return the replays of the job that are under way, in order."""
    now = stage.assembly.rerunning.get(stage.scope, job.id)
    runs = [member.run for member in now.members if member.status is MemberStatus.STARTED]
    return [stage.world.runs.get(stage.scope, run) for run in runs if run]


def counts(stage: Stage, job: Job) -> dict[str, int]:
    found = stage.assembly.rerunning.get(stage.scope, job.id).counts
    return {status.value: count for status, count in found.items() if count}


def test_one_is_replayed_then_ten_then_all(stage: Stage) -> None:
    stage.publish(BROKEN)
    sources = failed(stage, 20)
    stage.publish(MENDED)
    job = begin(stage)
    assert counts(stage, job) == {"pending": 19, "started": 1}
    canary = replays(stage, job)[0]
    assert (canary.origin, canary.version, canary.job) == (sources[0].id, 2, job.id)
    assert stage.step(canary, "set").recorded_from == sources[0].id
    assert not stage.has_step(canary, "note")
    end(stage, canary)
    assert counts(stage, job) == {"succeeded": 1, "started": 10, "pending": 9}
    for run in replays(stage, job)[:9]:
        end(stage, run)
    assert counts(stage, job) == {"succeeded": 10, "started": 1, "pending": 9}
    end(stage, replays(stage, job)[0])
    assert counts(stage, job) == {"succeeded": 11, "started": 9}
    for run in replays(stage, job):
        end(stage, run)
    over = stage.assembly.rerunning.get(stage.scope, job.id)
    assert (over.status, counts(stage, job)) == (JobStatus.COMPLETED, {"succeeded": 20})
    assert {member.source for member in over.members} == {run.id for run in sources}


def test_at_the_first_new_failure_nothing_more_starts(stage: Stage) -> None:
    stage.publish(BROKEN)
    failed(stage, 15)
    job = begin(stage)
    end(stage, replays(stage, job)[0])
    first, second, *_ = replays(stage, job)
    stage.fail(first, "note", "no such account")
    end(stage, first, "FAILED")
    stopped = stage.assembly.rerunning.get(stage.scope, job.id)
    assert stopped.status is JobStatus.STOPPED
    assert f"Run {first.id}, which replays" in stopped.reason
    assert "no such account" in stopped.reason
    end(stage, second)  # those under way go on, and are told of
    assert counts(stage, job) == {"succeeded": 2, "failed": 1, "started": 8, "pending": 4}


def test_runs_are_chosen_by_version_time_and_error(stage: Stage) -> None:
    stage.publish(BROKEN)
    old = failed(stage, 2)
    stage.publish(MENDED)
    new = failed(stage, 1)
    stage.start()

    def chosen(**wanted: object) -> set[str]:
        return {member.source for member in begin(stage, **wanted).members}

    assert chosen(version=1) == {run.id for run in old}
    assert chosen(since=new[0].started) == {new[0].id}
    assert chosen(until=old[1].started) == {old[0].id}
    assert chosen(error="PermanentError") >= {new[0].id}
    with pytest.raises(BadInput, match="none fit"):
        chosen(error="TypeError")


def test_of_runs_that_replay_one_another_the_newest_is_replayed(stage: Stage) -> None:
    stage.publish(BROKEN)
    source = failed(stage, 1)[0]
    stage.clock.advance(seconds=1)
    again = stage.assembly.runs.replay(stage.scope, source.id)
    stage.fail(again, "note")
    end(stage, again, "FAILED")
    assert [member.source for member in begin(stage).members] == [again.id]


def test_a_job_is_cancelled_and_starts_nothing_more(stage: Stage) -> None:
    stage.publish(BROKEN)
    failed(stage, 3)
    job = begin(stage)
    canary = replays(stage, job)[0]
    cancelled = stage.assembly.rerunning.cancel(stage.scope, job.id)
    assert (cancelled.status, cancelled.reason) == (JobStatus.CANCELLED, "u-demo cancelled it.")
    end(stage, canary)
    assert counts(stage, job) == {"succeeded": 1, "pending": 2}
    with pytest.raises(Conflict, match="is cancelled"):
        stage.assembly.rerunning.cancel(stage.scope, job.id)


def test_a_run_that_would_write_again_is_skipped_unless_that_is_meant(stage: Stage) -> None:
    drawn = {"start": "trigger", "set": "mail.send", "note": "data.set"}
    stage.publish(graph(drawn, ["start set", "set note"]))
    failed(stage, 2)
    again: JsonObject = {"type": "mail.send", "parameters": {"to": "b"}}
    changed: dict[str, str | JsonObject] = {**drawn, "set": again}
    stage.publish(graph(changed, ["start set", "set note"]))
    job = begin(stage)
    assert job.status is JobStatus.COMPLETED
    assert [member.note for member in job.members] == ["These steps would write again: set."] * 2
    meant = stage.assembly.rerunning.begin(stage.scope, "demo", confirm_writes=True)
    assert counts(stage, meant) == {"pending": 1, "started": 1}


def uncertain(stage: Stage) -> Run:
    stage.publish(graph({"start": "trigger", "note": "mail.send"}, ["start note"]))
    run = stage.start()
    stage.write(run, "start")
    stage.write(run, "note", StepStatus.UNCERTAIN)
    return end(stage, run, "FAILED")


def test_uncertain_steps_are_done_again_or_taken_for_done_as_the_job_says(stage: Stage) -> None:
    uncertain(stage)
    skipped = begin(stage)
    assert skipped.members[0].status is MemberStatus.SKIPPED
    assert "may have happened: note" in skipped.members[0].note
    done = stage.assembly.rerunning.begin(stage.scope, "demo", assume_done={"note": {"id": 7}})
    run = replays(stage, done)[0]
    assert stage.value(stage.step(run, "note").value) == {"id": 7}
    again = stage.assembly.rerunning.begin(
        stage.scope, "demo", repeat={"note"}, confirm_writes=True
    )
    assert stage.step(replays(stage, again)[0], "note").generation == 2


def test_where_no_run_may_be_opened_the_job_waits_for_the_sweeper(stage: Stage) -> None:
    stage.publish(BROKEN)
    failed(stage, 2)
    limited(stage, Overflow.SKIP, publish=False)
    other = stage.start()
    job = begin(stage)
    assert counts(stage, job) == {"pending": 2}
    end(stage, other)
    assert stage.assembly.sweeper.sweep(stage.scope).started == 1
    assert counts(stage, job) == {"pending": 1, "started": 1}
    assert stage.assembly.sweeper.sweep(stage.scope).started == 0


def test_the_rights_of_whoever_began_count_when_a_replay_starts(stage: Stage) -> None:
    stage.publish(BROKEN)
    failed(stage, 2)
    job = begin(stage)
    stage.actors.refused.add(stage.scope.user)  # type: ignore[attr-defined]
    end(stage, replays(stage, job)[0])
    stopped = stage.assembly.rerunning.get(stage.scope, job.id)
    assert (stopped.status, counts(stage, job)) == (
        JobStatus.STOPPED,
        {"succeeded": 1, "pending": 1},
    )
    assert "no active member" in stopped.reason


def test_a_crash_anywhere_replays_every_run_once(stage: Stage) -> None:
    stage.publish(BROKEN)
    failed(stage, 3)
    stage.publish(MENDED)
    job: Job | None = None
    for at in range(1, 80):
        broken = Assembly.of(fragile(stage.world, Power(at)))
        try:
            if job is None:
                job = next(iter(stage.world.jobs.open(stage.scope)), None)  # type: ignore[union-attr]
            if job is None:
                broken.rerunning.begin(stage.scope, "demo")
            else:
                for run in replays(stage, job):
                    broken.endings.execution_ended(stage.scope, run, Ended("SUCCEEDED"))
        except Crash:
            pass
        stage.clock.advance(seconds=300)
        stage.assembly.sweeper.sweep(stage.scope)
    assert job is not None
    over = stage.assembly.rerunning.get(stage.scope, job.id)
    assert over.status is JobStatus.COMPLETED
    completed = stage.world.runs.count(stage.scope)[RunStatus.COMPLETED]
    assert completed == 3


def test_strangers_and_the_unpublished_are_refused(stage: Stage) -> None:
    stage.publish(BROKEN, status=VersionStatus.DRAFT)
    with pytest.raises(BadInput, match="has no published version"):
        begin(stage)
    stage.publish(BROKEN)
    failed(stage, 1)
    job = begin(stage)
    with pytest.raises(NotFound):
        stage.assembly.rerunning.get(FOREIGN, job.id)
    assert stage.assembly.rerunning.list(FOREIGN).items == []
    assert [each.id for each in stage.assembly.rerunning.list(stage.scope).items] == [job.id]
    without = Assembly.of(replace(stage.world, jobs=None))
    with pytest.raises(Conflict, match="keeps no replay jobs"):
        without.rerunning.get(stage.scope, job.id)
    assert list(without.rerunning.unfinished(stage.scope)) == []


def test_a_version_that_retires_is_no_target(stage: Stage) -> None:
    workflow = stage.publish(BROKEN)
    failed(stage, 1)
    version = stage.versions.get(stage.scope, workflow, 1)
    tenant = stage.memory.of(stage.scope)
    resting = {"retiring": stage.clock.now()}
    tenant.versions[workflow, 1, ""] = version.model_copy(update=resting)
    with pytest.raises(Conflict, match="no longer published"):
        begin(stage)


def test_what_hinders_a_job_does_not_keep_a_run_from_ending(stage: Stage) -> None:
    stage.publish(BROKEN)
    failed(stage, 1)
    job = begin(stage)
    run = replays(stage, job)[0]
    stage.memory.of(stage.scope).jobs.clear()
    assert end(stage, run).status is RunStatus.COMPLETED


def test_nobody_begins_a_job_who_may_not_start(stage: Stage) -> None:
    stage.publish(BROKEN)
    failed(stage, 1)
    viewer = replace(stage.scope, principal=replace(stage.scope.principal, grants=()))
    with pytest.raises((Forbidden, NotFound)):
        stage.assembly.rerunning.begin(viewer, "demo")
