from __future__ import annotations

from dataclasses import replace

import pytest

from stellwerk.catalogue.model import Kind
from stellwerk.kernel.errors import BadInput, NotFound
from stellwerk.kernel.ids import NodeKey
from stellwerk.tenancy.chain import ChainedAudit
from stellwerk.tenancy.scope import Scope
from stellwerk.workflows.compiler import GraphCompiler
from stellwerk.workflows.faults import Code, Fault, InvalidGraph
from stellwerk.workflows.graph import Edge, Graph, Node, graph_hash
from stellwerk.workflows.model import VersionStatus
from stellwerk.workflows.press import Press
from stellwerk.workflows.service import WorkflowService
from tests.contracts.mortal import Died, Mortal
from tests.contracts.records import SCOPE, STRANGERS
from tests.contracts.stores import Stores
from tests.fakes.audit import FakeAuditLog
from tests.fakes.catalogue import FakeCatalogue, node_type
from tests.fakes.clock import FixedClock
from tests.fakes.compiler import PaperCompiler
from tests.fakes.versions import FakeMachines

TYPES = FakeCatalogue(node_type("trigger.manual", kind=Kind.TRIGGER), node_type("data.set"))


@pytest.fixture
def press(stores: Stores) -> Press:
    return Press(
        versions=stores.versions,
        machines=FakeMachines(),
        values=stores.values,
        catalogue=TYPES,
        compiler=PaperCompiler(),
        clock=FixedClock(),
        prefix="stellwerk",
        audit=ChainedAudit(FakeAuditLog(), FixedClock()),
    )


def graph(value: str = "1", *, title: str = "", extra: str = "work") -> Graph:
    return Graph(
        title=title,
        nodes=(
            Node(key=NodeKey("start"), type="trigger.manual", title=title),
            Node(key=NodeKey(extra), type="data.set", parameters={"value": value}),
        ),
        edges=(Edge(source=NodeKey("start"), target=NodeKey(extra)),),
    )


def definitions(press: Press) -> dict[str, str]:
    assert isinstance(press.machines, FakeMachines)
    return press.machines.definitions


def test_a_published_graph_is_a_version_with_its_machine(press: Press) -> None:
    service = WorkflowService(press)
    workflow, version = service.publish(SCOPE, graph(title="Rechnung prüfen"))
    assert (workflow.slug, workflow.title) == ("rechnung-pruefen", "Rechnung prüfen")
    assert (workflow.latest, workflow.published) == (1, 1)
    assert (version.number, version.status) == (1, VersionStatus.PUBLISHED)
    assert version.graph_hash == graph_hash(graph())
    assert version.plan == {"watch": {"start": ["late", "later"]}, "passes": {}}
    [(name, definition)] = definitions(press).items()
    assert version.machines == {"": f"arn:aws:states:eu-central-1:123456789012:stateMachine:{name}"}
    assert name.startswith("m-one-rechnung-pruefen-v1-")
    assert definition == f"stellwerk: rechnung-pruefen v1 {version.graph_hash}"
    assert service.find(SCOPE, "rechnung-pruefen") == workflow
    assert service.find(SCOPE, workflow.id) == workflow
    assert service.version(SCOPE, workflow.id, 1) == version


def test_the_graph_comes_back_as_it_was_drawn(press: Press) -> None:
    drawn = graph("ü \ud83d {% x %}" + "." * 50_000, title="Mit Titel")
    service = WorkflowService(press)
    _, version = service.publish(SCOPE, drawn)
    assert version.graph.ref is not None
    assert service.graph(SCOPE, version) == drawn


def test_a_graph_that_means_the_same_is_the_same_version(press: Press) -> None:
    service = WorkflowService(press)
    first = service.publish(SCOPE, graph(), slug="invoices")
    assert service.publish(SCOPE, graph(title="Moved and renamed"), slug="invoices") == first
    assert len(definitions(press)) == 1


def test_another_graph_is_the_next_version_and_archives_the_one_before(press: Press) -> None:
    service = WorkflowService(press)
    workflow, first = service.publish(SCOPE, graph("1"), slug="invoices")
    workflow, second = service.publish(SCOPE, graph("2"), slug="invoices")
    assert (second.number, workflow.latest, workflow.published) == (2, 2, 2)
    assert service.version(SCOPE, workflow.id, 1).status is VersionStatus.ARCHIVED
    assert second.machines != first.machines


def test_an_archived_version_is_published_again_with_its_machine(press: Press) -> None:
    service = WorkflowService(press)
    _, first = service.publish(SCOPE, graph("1"), slug="invoices")
    _, second = service.publish(SCOPE, graph("2"), slug="invoices")
    kept = dict(definitions(press))
    definitions(press).clear()
    workflow, again = service.publish(SCOPE, graph("1"), slug="invoices")
    assert (again.number, workflow.published, workflow.latest) == (1, 1, 2)
    assert again.machines == first.machines
    assert service.version(SCOPE, workflow.id, 2).status is VersionStatus.ARCHIVED
    [(name, definition)] = definitions(press).items()
    assert kept[name] == definition
    assert second.number == 2


def test_loops_in_chunks_get_machines_of_their_own(press: Press) -> None:
    _, version = WorkflowService(press).publish(
        SCOPE, graph(extra="loop_" + "x" * 30), slug="a" * 40
    )
    assert set(version.machines) == {"", "loop_" + "x" * 30}
    assert len(set(definitions(press))) == 2
    assert all(len(name) <= 80 for name in definitions(press))


def test_a_faulty_graph_changes_nothing_and_names_all_faults(press: Press) -> None:
    faults = [
        Fault(Code.FIELD_UNKNOWN, "first", node=NodeKey("a")),
        Fault(Code.FIELD_MISSING, "second", node=NodeKey("b")),
    ]
    service = WorkflowService(replace(press, compiler=PaperCompiler(faults)))
    with pytest.raises(InvalidGraph) as raised:
        service.publish(SCOPE, graph(), slug="invoices")
    assert len(raised.value.faults) == 2
    assert definitions(press) == {}
    with pytest.raises(NotFound):
        service.find(SCOPE, "invoices")


def test_a_graph_may_name_itself_and_the_workflows_of_its_instance(press: Press) -> None:
    compiler = PaperCompiler()
    service = WorkflowService(replace(press, compiler=compiler))
    service.publish(SCOPE, graph(), slug="invoices")
    assert compiler.asked == ["workflow", None]
    workflow, _ = service.publish(SCOPE, graph(), slug="third")
    assert compiler.asked == ["workflow", None]
    service.publish(SCOPE, graph(), slug="other")
    assert compiler.asked == ["workflow", "workflow"]
    assert service.find(SCOPE, workflow.id) == workflow


@pytest.mark.parametrize("slug", ["Invoices", "ü", "-x", "a b", "x" * 41, "a/b", "a#b"])
def test_a_bad_slug_is_refused_with_a_good_one(press: Press, slug: str) -> None:
    with pytest.raises(BadInput) as raised:
        WorkflowService(press).publish(SCOPE, graph(), slug=slug)
    assert "small letters" in raised.value.remedy


@pytest.mark.parametrize("after", [False, True], ids=["before", "after"])
@pytest.mark.parametrize("lives", range(1, 8))
def test_whatever_dies_in_between_the_next_try_completes_it(
    press: Press, lives: int, after: bool
) -> None:
    service = WorkflowService(press)
    service.publish(SCOPE, graph("1"), slug="invoices")
    mortal = Mortal(lives, after)
    dying = replace(
        press,
        versions=mortal.around(press.versions, "create", "add", "move"),
        machines=mortal.around(press.machines, "create"),
        values=mortal.around(press.values, "put"),
    )
    new = graph("2", extra="loop")
    try:
        WorkflowService(dying).publish(SCOPE, new, slug="invoices")
    except Died:
        before = service.find(SCOPE, "invoices").published
        assert before == (1 if lives < 6 or not after else 2)
    else:
        assert lives == 7
    workflow, version = service.publish(SCOPE, new, slug="invoices")
    assert (workflow.published, workflow.latest, version.number) == (2, 2, 2)
    assert service.version(SCOPE, workflow.id, 1).status is VersionStatus.ARCHIVED
    assert len(definitions(press)) == 3


@pytest.mark.parametrize("after", [False, True], ids=["before", "after"])
@pytest.mark.parametrize("lives", range(1, 5))
def test_a_first_version_survives_its_process_too(press: Press, lives: int, after: bool) -> None:
    mortal = Mortal(lives, after)
    dying = replace(
        press,
        versions=mortal.around(press.versions, "create", "add", "move"),
        machines=mortal.around(press.machines, "create"),
        values=mortal.around(press.values, "put"),
    )
    with pytest.raises(Died):
        WorkflowService(dying).publish(SCOPE, graph(), slug="invoices")
    workflow, version = WorkflowService(press).publish(SCOPE, graph(), slug="invoices")
    assert (workflow.published, workflow.latest, version.number) == (1, 1, 1)
    assert len(definitions(press)) == 1


def test_the_real_compiler_fits(press: Press) -> None:
    service = WorkflowService(replace(press, compiler=GraphCompiler()))
    _, version = service.publish(SCOPE, graph(), slug="invoices")
    [definition] = definitions(press).values()
    assert version.graph_hash in definition
    with pytest.raises(InvalidGraph):
        service.publish(SCOPE, Graph(), slug="invoices")


def test_workflows_are_listed_by_slug(press: Press) -> None:
    service = WorkflowService(press)
    for slug in ("pears", "apples", "figs"):
        service.publish(SCOPE, graph(), slug=slug)
    page = service.list(SCOPE, limit=2)
    assert [workflow.slug for workflow in page.items] == ["apples", "figs"]
    assert [workflow.slug for workflow in service.list(SCOPE, cursor=page.cursor).items] == [
        "pears"
    ]


@pytest.mark.parametrize("stranger", STRANGERS)
def test_a_stranger_finds_nothing_and_publishes_for_itself(press: Press, stranger: Scope) -> None:
    service = WorkflowService(press)
    workflow, version = service.publish(SCOPE, graph("1"), slug="invoices")
    with pytest.raises(NotFound):
        service.find(stranger, "invoices")
    with pytest.raises(NotFound):
        service.version(stranger, workflow.id, 1)
    theirs, _ = service.publish(stranger, graph("1"), slug="invoices")
    assert theirs.id != workflow.id
    assert len(definitions(press)) == 2
    assert service.publish(SCOPE, graph("1"), slug="invoices") == (workflow, version)
