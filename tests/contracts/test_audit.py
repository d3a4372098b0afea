from __future__ import annotations

import pytest

from stellwerk.kernel.errors import BadInput, Conflict, NotFound, ServiceUnavailable
from stellwerk.kernel.ids import InstanceId
from stellwerk.tenancy.evidence import AuditFilter, AuditRecord, Outcome, place_of
from stellwerk.tenancy.scope import Scope, of_run
from tests.contracts.audit_logs import Evidence, in_memory, on_moto
from tests.contracts.records import SCOPE, START
from tests.contracts.stores import Moto

DAY = "2026-11-02"
STRANGER = of_run("m-two", "i-one", "u-anna")


@pytest.fixture(params=["fake", "moto"])
def evidence(request: pytest.FixtureRequest) -> Evidence:
    if request.param == "fake":
        return in_memory()
    moto: Moto = request.getfixturevalue("moto")
    return on_moto(moto)[0]


def record(number: int = 1, *, day: str = DAY, scope: Scope = SCOPE, **more: object) -> AuditRecord:
    at = START.replace(day=int(day[-2:]), second=number % 60, minute=number // 60)
    facts: dict[str, object] = {
        "id": f"id-{day}-{number}",
        "mandate": scope.mandate,
        "day": day,
        "number": number,
        "at": at,
        "user": scope.user,
        "instance": scope.instance,
        "action": "workflow.publish",
        "outcome": Outcome.DONE,
        **more,
    }
    return AuditRecord.model_validate(facts).sealed()


def test_a_record_is_read_as_it_was_written(evidence: Evidence) -> None:
    first = record(object="workflow:w-1", reason="✓ geprüft", before="a", after="b")
    evidence.log.append(SCOPE, first)
    evidence.log.append(SCOPE, record(2))
    assert [entry.record for entry in evidence.log.entries(SCOPE, DAY)] == [first, record(2)]
    assert [entry.place for entry in evidence.log.entries(SCOPE, DAY)] == [place_of(1), place_of(2)]
    assert evidence.log.last(SCOPE, DAY) == record(2)
    assert evidence.log.last(SCOPE, "2026-11-03") is None
    assert next(evidence.log.entries(SCOPE, DAY)).record == first


def test_a_number_is_taken_once(evidence: Evidence) -> None:
    for number in (1, 2):
        evidence.log.append(SCOPE, record(number))
        with pytest.raises(Conflict):
            evidence.log.append(SCOPE, record(number, id="another"))
    assert [entry.record for entry in evidence.log.entries(SCOPE, DAY)] == [record(1), record(2)]


def test_a_record_whose_answer_was_lost_may_be_put_again(evidence: Evidence) -> None:
    for number in (1, 1, 2, 2):
        evidence.log.append(SCOPE, record(number))
    assert evidence.log.last(SCOPE, DAY) == record(2)


def test_days_with_records_are_known(evidence: Evidence) -> None:
    for day in ("2026-11-09", "2026-11-02", "2026-11-30"):
        evidence.log.append(SCOPE, record(day=day))
        evidence.log.append(SCOPE, record(2, day=day))
    assert list(evidence.log.days(SCOPE)) == ["2026-11-02", "2026-11-09", "2026-11-30"]
    assert evidence.log.day_before(SCOPE, "2026-11-30") == "2026-11-09"
    assert evidence.log.day_before(SCOPE, "2026-11-10") == "2026-11-09"
    assert evidence.log.day_before(SCOPE, "2026-11-02") is None


def test_an_instance_has_no_chain_of_its_own(evidence: Evidence) -> None:
    evidence.log.append(SCOPE, record())
    assert evidence.log.last(SCOPE.at(InstanceId("i-two")), DAY) == record()


def test_a_stranger_neither_sees_nor_adds(evidence: Evidence) -> None:
    evidence.log.append(SCOPE, record())
    assert evidence.log.last(STRANGER, DAY) is None
    assert list(evidence.log.entries(STRANGER, DAY)) == []
    assert list(evidence.log.days(STRANGER)) == []
    assert evidence.log.day_before(STRANGER, "2026-12-01") is None
    wanted = AuditFilter(user=SCOPE.user)
    assert evidence.log.page(STRANGER, wanted, cursor=None, limit=10).items == []
    with pytest.raises(NotFound):
        evidence.log.append(STRANGER, record(2))
    assert evidence.log.last(SCOPE, DAY) == record()


def test_what_nobody_can_read_is_shown_as_such_and_nothing_follows_it(evidence: Evidence) -> None:
    evidence.log.append(SCOPE, record())
    evidence.hands.put(SCOPE, DAY, place_of(2), "{")
    assert [entry.record for entry in evidence.log.entries(SCOPE, DAY)] == [record(), None]
    with pytest.raises(ServiceUnavailable, match="damaged"):
        evidence.log.last(SCOPE, DAY)


def seeded(evidence: Evidence) -> None:
    """Put 60 records on two days: every tenth by bert, every seventh a denial."""
    for day in (DAY, "2026-11-03"):
        for number in range(1, 31):
            evidence.log.append(
                SCOPE,
                record(
                    number,
                    day=day,
                    user="u-bert" if number % 10 == 0 else "u-anna",
                    object=f"workflow:{number % 3}" if number % 2 else "",
                    outcome=Outcome.DENIED if number % 7 == 0 else Outcome.DONE,
                    action="workflow.archive" if number % 5 == 0 else "workflow.publish",
                ),
            )


def all_pages(evidence: Evidence, wanted: AuditFilter, limit: int) -> list[tuple[str, int]]:
    found: list[tuple[str, int]] = []
    cursor: str | None = None
    while True:
        page = evidence.log.page(SCOPE, wanted, cursor=cursor, limit=limit)
        assert len(page.items) <= limit
        found += [(item.day, item.number) for item in page.items]
        cursor = page.cursor
        if cursor is None:
            return found


@pytest.mark.parametrize(
    "wanted",
    [
        AuditFilter(),
        AuditFilter(user="u-bert"),
        AuditFilter(object="workflow:1"),
        AuditFilter(object="workflow:1", user="u-anna", action="workflow.archive"),
        AuditFilter(action="workflow.archive"),
        AuditFilter(outcome=Outcome.DENIED),
        AuditFilter(since="2026-11-03"),
        AuditFilter(until=DAY),
        AuditFilter(since=DAY, until=DAY, outcome=Outcome.DENIED),
        AuditFilter(user="u-nobody"),
        AuditFilter(since="2026-12-01"),
        AuditFilter(until="2026-11-01"),
    ],
    ids=str,
)
def test_pages_hold_what_is_looked_for_the_newest_first(
    evidence: Evidence, wanted: AuditFilter
) -> None:
    seeded(evidence)
    everything = [
        entry.record
        for day in ("2026-11-03", DAY)
        for entry in reversed(list(evidence.log.entries(SCOPE, day)))
    ]
    expected = [
        (item.day, item.number) for item in everything if item is not None and wanted.matches(item)
    ]
    assert all_pages(evidence, wanted, 4) == expected
    assert all_pages(evidence, wanted, 100) == expected


def test_a_text_that_is_no_cursor_is_refused(evidence: Evidence) -> None:
    with pytest.raises(BadInput, match="not a cursor"):
        evidence.log.page(SCOPE, AuditFilter(), cursor="x", limit=3)


def test_a_page_costs_the_same_however_few_match(moto: Moto) -> None:
    evidence, counted = on_moto(moto)
    for number in range(1, 121):
        evidence.log.append(SCOPE, record(number))
    counted.requests.clear()
    page = evidence.log.page(SCOPE, AuditFilter(action="nothing"), cursor=None, limit=5)
    assert (page.items, len(counted.requests)) == ([], 20)
    assert page.cursor is not None


def test_adding_is_one_request_and_so_is_looking_at_the_last(moto: Moto) -> None:
    evidence, counted = on_moto(moto)
    for number in (1, 2, 3):
        evidence.log.append(SCOPE, record(number))
    evidence.log.last(SCOPE, DAY)
    assert counted.requests == ["transact_write_items", "put_item", "put_item", "query"]


def test_keys_of_records_begin_with_their_mandate(moto: Moto) -> None:
    evidence, _ = on_moto(moto)
    evidence.log.append(SCOPE, record(object="workflow:1"))
    names = [name for name in moto.dynamodb.list_tables()["TableNames"] if "audit" in name]
    items = [item for name in names for item in moto.dynamodb.scan(TableName=name)["Items"]]
    assert items
    for item in items:
        indexed = {"pk", "in_mandate", "in_user", "in_object"} & item.keys()
        assert all(item[key]["S"].startswith("m-one#") for key in indexed)
