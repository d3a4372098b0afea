"""Who may decide: not whoever has started the run, and who stands in for somebody else."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta

import pytest

from stellwerk.kernel.errors import BadInput, Conflict, Forbidden, NotFound
from stellwerk.kernel.ids import ROOT, NodeKey, RoleId, RunId, UserId
from stellwerk.runs.ballots import Quorum
from stellwerk.runs.deciders import FourEyes
from stellwerk.runs.model import ParentStep, Run, TaskStatus
from stellwerk.tenancy.access import AccessRule, Context, Grant, Level, Principal, Priority
from stellwerk.tenancy.deputies import Deputy
from stellwerk.tenancy.scope import SEEDED_INSTANCE, SEEDED_MANDATE, Scope, of_principal, of_run
from tests.runs.stage import QUESTION, Stage, graph

ASKING = graph({"start": "trigger", "ask": "input.approval"}, ["start ask"])
FOUR_EYES = replace(QUESTION, four_eyes=True, assignees=("user:u-demo", "user:u-ben"))
DECIDES = (
    AccessRule(context=Context.RESOURCE, item="resource.feature.graphicalEditor.decide", view=True),
)


def person(name: str) -> Scope:
    """Someone who may do everything."""
    return of_run(SEEDED_MANDATE, SEEDED_INSTANCE, f"u-{name}")


def clerk(name: str, *roles: str) -> Scope:
    """Someone who may decide what waits for him, and no more."""
    grants = [
        Grant(Priority.INSTANCE, RoleId(f"r-{label}"), label, DECIDES)
        for label in roles or ("clerk",)
    ]
    principal = Principal(UserId(f"u-{name}"), tuple(grants))
    return of_principal(principal, SEEDED_MANDATE, SEEDED_INSTANCE, feature="graphicalEditor")


class Clerks:
    """Lets clerks in, with the roles that they have."""

    def __init__(self, **roles: str) -> None:
        self._roles = roles

    def acting(self, scope: Scope, user: UserId) -> Scope:
        name = user.removeprefix("u-")
        if name == "gone":
            raise Forbidden(f"'{user}' is no active member of the mandate.")
        return clerk(name, self._roles.get(name, "clerk"))


@pytest.fixture
def stage() -> Stage:
    return Stage(actors=Clerks(ben="finance"))


@pytest.fixture
def run(stage: Stage) -> Run:
    stage.publish(ASKING)
    return stage.start()


def stands_in(stage: Stage, deputy: str, user: str, *, days: float = 1) -> None:
    now = stage.clock.now()
    named = Deputy(
        mandate=SEEDED_MANDATE,
        user=UserId(f"u-{user}"),
        deputy=UserId(f"u-{deputy}"),
        since=now,
        until=now + timedelta(days=days),
    )
    stage.deputies.write(stage.scope, named)


def inbox(stage: Stage, scope: Scope) -> list[str]:
    return [task.id for task in stage.assembly.tasks.list(scope, mine=True).items]


def test_whoever_has_started_the_run_does_not_decide_it(stage: Stage, run: Run) -> None:
    task = stage.ask(run, question=FOUR_EYES)
    assert task.not_by == ("u-demo",)
    tasks = stage.assembly.tasks
    with pytest.raises(FourEyes, match="must not be decided by whoever has started its run"):
        tasks.decide(stage.scope, task.id, "approved")
    with pytest.raises(FourEyes):
        tasks.delegate(stage.scope, task.id, UserId("u-eva"))
    with pytest.raises(BadInput, match="who has started its run"):
        tasks.delegate(clerk("ben"), task.id, UserId("u-demo"))
    assert inbox(stage, stage.scope) == []
    assert inbox(stage, clerk("ben")) == [task.id]
    assert tasks.get(stage.scope, task.id).status is TaskStatus.PENDING
    assert tasks.decide(clerk("ben"), task.id, "approved").status is TaskStatus.COMPLETED


def test_who_may_decide_everything_may_not_decide_what_he_has_started(
    stage: Stage, run: Run
) -> None:
    task = stage.ask(run, question=replace(FOUR_EYES, assignees=("user:u-ben",)))
    with pytest.raises(FourEyes):
        stage.assembly.tasks.decide(stage.scope, task.id, "approved")


def test_of_a_called_run_it_is_whoever_has_started_the_first_one(stage: Stage, run: Run) -> None:
    runs = stage.world.runs
    parent = ParentStep(run=run.id, path=ROOT, node=NodeKey("call"), depth=1)
    child = run.model_copy(
        update={
            "id": RunId("r-child"),
            "user": UserId("u-owner"),
            "parent": parent,
            "revision": 0,
            "trigger": run.trigger.model_copy(update={"delivery": "child"}),
        }
    )
    task = stage.ask(runs.create(stage.scope, child), question=FOUR_EYES)
    assert task.not_by == ("u-demo",)


def test_of_a_replay_it_is_also_whoever_has_started_what_is_replayed(
    stage: Stage, run: Run
) -> None:
    again = run.model_copy(
        update={
            "id": RunId("r-again"),
            "user": UserId("u-eva"),
            "origin": run.id,
            "revision": 0,
            "trigger": run.trigger.model_copy(update={"delivery": "again"}),
        }
    )
    task = stage.ask(stage.world.runs.create(stage.scope, again), question=FOUR_EYES)
    assert set(task.not_by) == {"u-demo", "u-eva"}


def test_a_deputy_sees_and_decides_and_it_is_recorded_for_whom(stage: Stage, run: Run) -> None:
    task = stage.ask(run, question=replace(QUESTION, assignees=("user:u-ben",)))
    tasks, eva = stage.assembly.tasks, clerk("eva")
    with pytest.raises(NotFound):
        tasks.get(eva, task.id)
    assert inbox(stage, eva) == []
    stands_in(stage, "eva", "ben")
    assert inbox(stage, eva) == [task.id]
    assert tasks.get(eva, task.id).assignees == ("user:u-ben",)
    decided = tasks.decide(eva, task.id, "approved")
    assert decided.decision is not None
    assert (decided.decision.by, decided.decision.on_behalf_of) == ("u-eva", "u-ben")
    assert [one.id for one in tasks.list(eva, status=TaskStatus.COMPLETED, mine=True).items] == [
        task.id
    ]


def test_a_deputy_has_what_waits_for_the_others_roles(stage: Stage, run: Run) -> None:
    task = stage.ask(run, question=replace(QUESTION, assignees=("role:finance",)))
    stands_in(stage, "eva", "ben")
    stands_in(stage, "eva", "gone")
    assert inbox(stage, clerk("eva")) == [task.id]
    decided = stage.assembly.tasks.decide(clerk("eva"), task.id, "approved").decision
    assert decided is not None
    assert decided.on_behalf_of == "u-ben"


def test_a_deputy_whose_time_is_over_sees_nothing(stage: Stage, run: Run) -> None:
    task = stage.ask(run, question=replace(QUESTION, assignees=("user:u-ben",)))
    stands_in(stage, "eva", "ben")
    stage.clock.advance(days=1)
    assert inbox(stage, clerk("eva")) == []
    with pytest.raises(NotFound):
        stage.assembly.tasks.decide(clerk("eva"), task.id, "approved")


def test_one_who_is_asked_himself_decides_for_himself(stage: Stage, run: Run) -> None:
    stands_in(stage, "eva", "ben")
    task = stage.ask(run, question=replace(QUESTION, assignees=("user:u-ben", "user:u-eva")))
    decided = stage.assembly.tasks.decide(clerk("eva"), task.id, "approved").decision
    assert decided is not None
    assert decided.on_behalf_of is None


def test_nobody_decides_for_whoever_has_started_the_run(stage: Stage, run: Run) -> None:
    stands_in(stage, "eva", "demo")
    task = stage.ask(run, question=FOUR_EYES)
    assert inbox(stage, clerk("eva")) == []
    with pytest.raises(FourEyes):
        stage.assembly.tasks.decide(clerk("eva"), task.id, "approved")


def test_whoever_has_started_the_run_does_not_decide_for_others(stage: Stage, run: Run) -> None:
    stands_in(stage, "demo", "ben")
    task = stage.ask(run, question=replace(FOUR_EYES, assignees=("user:u-ben",)))
    demo = clerk("demo")
    assert inbox(stage, demo) == []
    with pytest.raises(FourEyes):
        stage.assembly.tasks.decide(demo, task.id, "approved")


def test_a_deputy_who_has_voted_does_not_vote_for_the_other_too(stage: Stage, run: Run) -> None:
    stands_in(stage, "eva", "ben")
    question = replace(
        QUESTION, assignees=("user:u-ben", "user:u-max", "role:boss"), quorum=Quorum(needed=3)
    )
    task = stage.ask(run, question=question)
    voted = stage.assembly.tasks.decide(clerk("eva"), task.id, "approved")
    assert [(vote.by, vote.on_behalf_of) for vote in voted.votes] == [("u-eva", "u-ben")]
    for again in (clerk("eva", "boss"), clerk("ben")):
        assert inbox(stage, again) == []
        with pytest.raises(Conflict, match="has the vote of u-eva already"):
            stage.assembly.tasks.decide(again, task.id, "approved")


def test_one_for_whom_it_does_not_wait_and_who_sees_it_may_not_decide(
    stage: Stage, run: Run
) -> None:
    task = stage.ask(run)
    rule = AccessRule(
        context=Context.DATA, item="data.feature.graphicalEditor.tasks", view=True, read=Level.ALL
    )
    viewer = Principal(
        UserId("u-eva"),
        (Grant(Priority.INSTANCE, RoleId("r-v"), "viewer", (*DECIDES, rule)),),
    )
    eva = of_principal(viewer, SEEDED_MANDATE, SEEDED_INSTANCE, feature="graphicalEditor")
    assert stage.assembly.tasks.get(eva, task.id) == task
    with pytest.raises(Forbidden, match="may not update tasks"):
        stage.assembly.tasks.decide(eva, task.id, "approved")
