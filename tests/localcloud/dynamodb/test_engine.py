"""DynamoDB's operations, one by one."""

from __future__ import annotations

import threading
from typing import Any

import pytest

from localcloud.dynamodb.errors import Cancelled, ConditionFailed, Invalid, Missing, Refusal
from tests.localcloud.dynamodb.desk import NAME, Tried, engine, item, key


@pytest.fixture
def tried() -> Tried:
    return Tried(engine())


def put(tried: Tried, *items: dict[str, Any]) -> None:
    for one in items:
        tried("PutItem", Item=one)


def stored(tried: Tried, pk: str = "a", sk: int = 1) -> Any:
    return tried("GetItem", Key=key(pk, sk)).get("Item")


def update(tried: Tried, expression: str, **values: Any) -> Any:
    request: dict[str, Any] = {"Key": key(), "UpdateExpression": expression}
    if values:
        request["ExpressionAttributeValues"] = {f":{name}": one for name, one in values.items()}
    return tried("UpdateItem", ReturnValues="ALL_NEW", **request)


def test_an_item_comes_back_as_it_was_written(tried: Tried) -> None:
    written = item(
        b={"B": b"\x00\xff"},
        m={"M": {"x": {"L": [{"NULL": True}, {"BOOL": False}]}}},
        s={"SS": ["q", "p"]},
    )
    put(tried, written)
    assert stored(tried) == written


def test_numbers_are_kept_in_one_form(tried: Tried) -> None:
    long = "0.12345678901234567890123456789012345678"
    put(tried, item(n={"N": "01.500"}, s={"NS": ["1.0", "2"]}, l={"N": long}))
    assert stored(tried)["l"] == {"N": long}
    assert stored(tried)["n"] == {"N": "1.5"}
    assert stored(tried)["s"] == {"NS": ["1", "2"]}


@pytest.mark.parametrize(
    "value",
    [
        {"N": "x"},
        {"N": "NaN"},
        {"N": "1" * 39},
        {"N": "1e200"},
        {"SS": []},
        {"SS": ["a", "a"]},
        {"X": 1},
        {"S": "a", "N": "1"},
    ],
)
def test_values_that_no_item_can_hold(tried: Tried, value: dict[str, Any]) -> None:
    assert tried("PutItem", Item=item(v=value)) == "ValidationException"


@pytest.mark.parametrize(
    "wrong",
    [
        {"pk": {"S": "a"}},
        {"pk": {"S": ""}, "sk": {"N": "1"}},
        {"pk": {"N": "1"}, "sk": {"N": "1"}},
        {"pk": {"S": "x" * 2049}, "sk": {"N": "1"}},
        {"pk": {"S": "a"}, "sk": {"N": "1"}, "g": {"N": "1"}},
        {"pk": {"S": "a"}, "sk": {"N": "1"}, "g": {"S": ""}},
        {"pk": {"S": "a"}, "sk": {"N": "1"}, "v": {"S": "x" * 400 * 1024}},
    ],
)
def test_items_that_a_table_refuses(tried: Tried, wrong: dict[str, Any]) -> None:
    assert tried("PutItem", Item=wrong) == "ValidationException"


def test_a_key_has_the_schema_s_attributes_and_no_more(tried: Tried) -> None:
    assert tried("GetItem", Key={"pk": {"S": "a"}}) == "ValidationException"
    assert tried("GetItem", Key=item(v={"S": "x"})) == "ValidationException"


def test_an_unknown_table() -> None:
    with pytest.raises(Missing):
        engine().get_item({"TableName": "other", "Key": key()})


@pytest.mark.parametrize(
    ("condition", "holds"),
    [
        ("attribute_exists(pk)", True),
        ("attribute_not_exists(pk)", False),
        ("attribute_not_exists(nothing)", True),
        ("n = :n", True),
        ("n <> :n", False),
        ("nothing <> :n", True),
        ("nothing = :n", False),
        ("n < :m AND NOT n > :m", True),
        ("n > :m OR (n >= :n AND n <= :n)", True),
        ("n BETWEEN :n AND :m", True),
        ("n IN (:m, :n)", True),
        ("s > :n", False),
        ("begins_with(s, :s)", True),
        ("contains(s, :e)", True),
        ("contains(l, :n)", True),
        ("size(s) = :four", True),
        ("attribute_type(m.x, :type)", True),
        ("m.x = :n and l[0] = :n", True),
        ("l[7] = :n", False),
        ("not (n = :n or s = :s)", False),
    ],
)
def test_conditions(tried: Tried, condition: str, holds: bool) -> None:
    put(
        tried,
        item(
            n={"N": "1"},
            s={"S": "text"},
            l={"L": [{"N": "1.0"}]},
            m={"M": {"x": {"N": "1"}}},
        ),
    )
    values = {
        ":n": {"N": "1"},
        ":m": {"N": "2"},
        ":s": {"S": "te"},
        ":e": {"S": "ex"},
        ":four": {"N": "4"},
        ":type": {"S": "N"},
    }
    used = {
        name: one
        for name, one in values.items()
        if name in condition.replace(")", " ").split()
        or f"{name}," in condition
        or f"{name})" in condition
    }
    request = {"ExpressionAttributeValues": used} if used else {}
    answer = tried("DeleteItem", Key=key(), ConditionExpression=condition, **request)
    assert answer == ({} if holds else "ConditionalCheckFailedException")


def test_a_refused_write_shows_what_stands_there_if_asked() -> None:
    made = engine()
    made.put_item({"TableName": NAME, "Item": item(v={"S": "old"})})
    with pytest.raises(ConditionFailed) as caught:
        made.put_item(
            {
                "TableName": NAME,
                "Item": item(),
                "ConditionExpression": "attribute_not_exists(pk)",
                "ReturnValuesOnConditionCheckFailure": "ALL_OLD",
            }
        )
    assert caught.value.more["Item"] == item(v={"S": "old"})


@pytest.mark.parametrize(
    "condition",
    ["", "pk", "pk = ", "= :v", "pk == :v", "size = :v", "(pk = :v", "pk = :v)", "%", "name = :v"],
)
def test_conditions_that_are_none(tried: Tried, condition: str) -> None:
    answer = tried(
        "DeleteItem",
        Key=key(),
        ConditionExpression=condition,
        ExpressionAttributeValues={":v": {"S": "x"}},
    )
    assert answer == "ValidationException"


def test_placeholders_are_defined_and_used(tried: Tried) -> None:
    unused = {"ExpressionAttributeNames": {"#x": "x"}}
    assert tried("PutItem", Item=item(), **unused) == "ValidationException"
    undefined = {"ConditionExpression": "#x = :x", "ExpressionAttributeNames": {"#x": "x"}}
    assert tried("PutItem", Item=item(), **undefined) == "ValidationException"


def test_legacy_parameters_are_refused(tried: Tried) -> None:
    assert tried("PutItem", Item=item(), Expected={}) == "ValidationException"


@pytest.mark.parametrize(
    ("expression", "values", "expected"),
    [
        ("SET v = :v", {"v": {"S": "x"}}, {"v": {"S": "x"}}),
        ("SET n = n + :v, o = n", {"v": {"N": "2"}}, {"n": {"N": "3"}, "o": {"N": "1"}}),
        ("SET n = n - :v", {"v": {"N": "0.5"}}, {"n": {"N": "0.5"}}),
        ("SET v = if_not_exists(v, :v)", {"v": {"S": "x"}}, {"v": {"S": "x"}}),
        ("SET n = if_not_exists(n, :v)", {"v": {"N": "9"}}, {"n": {"N": "1"}}),
        (
            "SET l = list_append(l, :v)",
            {"v": {"L": [{"S": "b"}]}},
            {"l": {"L": [{"S": "a"}, {"S": "b"}]}},
        ),
        ("SET l[0] = :v", {"v": {"S": "x"}}, {"l": {"L": [{"S": "x"}]}}),
        ("SET l[9] = :v", {"v": {"S": "x"}}, {"l": {"L": [{"S": "a"}, {"S": "x"}]}}),
        ("SET m.y = :v", {"v": {"S": "x"}}, {"m": {"M": {"x": {"N": "1"}, "y": {"S": "x"}}}}),
        ("REMOVE n, l[0], m.x", {}, {"n": None, "l": {"L": []}, "m": {"M": {}}}),
        ("REMOVE nothing", {}, {}),
        ("ADD n :v", {"v": {"N": "2"}}, {"n": {"N": "3"}}),
        ("ADD fresh :v", {"v": {"N": "2"}}, {"fresh": {"N": "2"}}),
        ("ADD ss :v", {"v": {"SS": ["b"]}}, {"ss": {"SS": ["a", "b"]}}),
        ("DELETE ss :v", {"v": {"SS": ["a"]}}, {"ss": None}),
        ("set v = :v remove n", {"v": {"S": "x"}}, {"v": {"S": "x"}, "n": None}),
    ],
)
def test_updates(
    tried: Tried, expression: str, values: dict[str, Any], expected: dict[str, Any]
) -> None:
    before = item(
        n={"N": "1"},
        l={"L": [{"S": "a"}]},
        m={"M": {"x": {"N": "1"}}},
        ss={"SS": ["a"]},
    )
    put(tried, before)
    answer = update(tried, expression, **values)
    after = {name: one for name, one in {**before, **expected}.items() if one is not None}
    assert answer == {"Attributes": after}
    assert stored(tried) == after


@pytest.mark.parametrize(
    ("expression", "values"),
    [
        ("SET pk = :v", {"v": {"S": "other"}}),
        ("REMOVE sk", {}),
        ("SET v = nothing", {}),
        ("SET n = s + :v", {"v": {"N": "1"}}),
        ("SET v.x = :v", {"v": {"S": "x"}}),
        ("SET n = :v, n = :v", {"v": {"N": "1"}}),
        ("SET s = list_append(s, :v)", {"v": {"L": []}}),
        ("ADD s :v", {"v": {"N": "1"}}),
        ("DELETE n :v", {"v": {"SS": ["a"]}}),
        ("MAKE n = :v", {"v": {"N": "1"}}),
        ("SET n = :v SET s = :v", {"v": {"N": "1"}}),
        ("SET g = :v", {"v": {"S": ""}}),
        ("SET s = :v", {"v": {"S": "x" * 400 * 1024}}),
    ],
)
def test_updates_that_are_refused_change_nothing(
    tried: Tried, expression: str, values: dict[str, Any]
) -> None:
    put(tried, item(n={"N": "1"}, s={"S": "x"}))
    assert update(tried, expression, **values) == "ValidationException"
    assert stored(tried) == item(n={"N": "1"}, s={"S": "x"})


@pytest.mark.parametrize(
    ("wanted", "expected"),
    [
        ("NONE", {}),
        ("ALL_OLD", {"Attributes": item(n={"N": "1"}, s={"S": "x"})}),
        ("ALL_NEW", {"Attributes": item(n={"N": "2"}, s={"S": "x"})}),
        ("UPDATED_OLD", {"Attributes": {"n": {"N": "1"}}}),
        ("UPDATED_NEW", {"Attributes": {"n": {"N": "2"}}}),
        ("SOME", "ValidationException"),
    ],
)
def test_what_an_update_returns(tried: Tried, wanted: str, expected: Any) -> None:
    put(tried, item(n={"N": "1"}, s={"S": "x"}))
    answer = tried(
        "UpdateItem",
        Key=key(),
        UpdateExpression="SET n = :v",
        ExpressionAttributeValues={":v": {"N": "2"}},
        ReturnValues=wanted,
    )
    assert answer == expected


def test_an_update_makes_an_item_that_is_not_there(tried: Tried) -> None:
    tried("UpdateItem", Key=key())
    assert stored(tried) == key()


def query(tried: Tried, condition: str, **more: Any) -> Any:
    values = {":p": {"S": "a"}, ":x": {"N": "3"}, ":y": {"N": "7"}}
    said = condition + more.get("FilterExpression", "")
    used = {name: one for name, one in values.items() if name in said}
    return tried("Query", KeyConditionExpression=condition, ExpressionAttributeValues=used, **more)


def sorts(answer: Any) -> list[int]:
    return [int(one["sk"]["N"]) for one in answer["Items"]]


@pytest.mark.parametrize(
    ("condition", "expected"),
    [
        ("pk = :p", list(range(10))),
        ("pk = :p AND sk = :x", [3]),
        ("sk < :x AND pk = :p", [0, 1, 2]),
        ("pk = :p AND (sk <= :x)", [0, 1, 2, 3]),
        ("pk = :p AND sk > :y", [8, 9]),
        ("pk = :p AND sk >= :y", [7, 8, 9]),
        ("pk = :p AND sk BETWEEN :x AND :y", [3, 4, 5, 6, 7]),
    ],
)
def test_queries_come_in_the_order_of_the_sort_key(
    tried: Tried, condition: str, expected: list[int]
) -> None:
    put(tried, *(item(sk=number) for number in (5, 3, 9, 0, 7, 1, 8, 2, 6, 4)), item("b"))
    assert sorts(query(tried, condition)) == expected
    assert sorts(query(tried, condition, ScanIndexForward=False)) == expected[::-1]


@pytest.mark.parametrize("forward", [True, False])
def test_pages_go_on_after_the_last_key_even_if_it_is_gone(tried: Tried, forward: bool) -> None:
    put(tried, *(item(sk=number) for number in range(10)))
    first = query(tried, "pk = :p", Limit=4, ScanIndexForward=forward)
    last = first["LastEvaluatedKey"]
    tried("DeleteItem", Key=last)
    rest = query(tried, "pk = :p", ExclusiveStartKey=last, ScanIndexForward=forward)
    found = sorts(first) + sorts(rest)
    assert found == (list(range(10)) if forward else list(range(9, -1, -1)))
    assert "LastEvaluatedKey" not in rest


def test_a_page_holds_at_most_a_mebibyte(tried: Tried) -> None:
    put(tried, *(item(sk=number, v={"S": "x" * 300_000}) for number in range(8)))
    answer = query(tried, "pk = :p")
    assert answer["Count"] == 4
    assert sorts(query(tried, "pk = :p", ExclusiveStartKey=answer["LastEvaluatedKey"])) == [
        4,
        5,
        6,
        7,
    ]


def test_a_filter_is_applied_after_the_limit(tried: Tried) -> None:
    put(tried, *(item(sk=number, v={"N": str(number)}) for number in range(6)))
    answer = query(tried, "pk = :p", FilterExpression="v > :x", Limit=5)
    assert (answer["Count"], answer["ScannedCount"]) == (1, 5)


def test_a_count_has_no_items(tried: Tried) -> None:
    put(tried, *(item(sk=number) for number in range(6)))
    answer = query(tried, "pk = :p", Select="COUNT")
    assert answer["Count"] == 6
    assert "Items" not in answer


def test_a_projection_takes_parts(tried: Tried) -> None:
    put(tried, item(m={"M": {"x": {"N": "1"}, "y": {"N": "2"}}}, v={"S": "x"}))
    answer = tried("GetItem", Key=key(), ProjectionExpression="sk, m.y, nothing")
    assert answer["Item"] == {"sk": {"N": "1"}, "m": {"M": {"y": {"N": "2"}}}}


def by_index(tried: Tried, index: str, **more: Any) -> Any:
    return tried(
        "Query",
        IndexName=index,
        KeyConditionExpression="g = :g",
        ExpressionAttributeValues={":g": {"S": "G"}},
        **more,
    )


def test_an_index_follows_the_items(tried: Tried) -> None:
    rows = [("a", 1, "3"), ("b", 1, "1"), ("c", 1, "2")]
    put(tried, *(item(pk, sk, g={"S": "G"}, h={"S": h}) for pk, sk, h in rows), item("d"))
    assert [one["pk"]["S"] for one in by_index(tried, "by_g")["Items"]] == ["b", "c", "a"]
    tried(
        "UpdateItem",
        Key=key("b"),
        UpdateExpression="SET h = :h",
        ExpressionAttributeValues={":h": {"S": "9"}},
    )
    tried("UpdateItem", Key=key("a"), UpdateExpression="REMOVE g")
    tried("DeleteItem", Key=key("c"))
    assert [one["pk"]["S"] for one in by_index(tried, "by_g")["Items"]] == ["b"]


def test_an_index_pages_through_equal_sort_keys(tried: Tried) -> None:
    put(tried, *(item(f"p{number}", g={"S": "G"}, h={"S": "same"}) for number in range(7)))
    found: list[str] = []
    start: dict[str, Any] = {}
    while True:
        answer = by_index(tried, "by_g", Limit=2, **start)
        found += [one["pk"]["S"] for one in answer["Items"]]
        if "LastEvaluatedKey" not in answer:
            break
        start = {"ExclusiveStartKey": answer["LastEvaluatedKey"]}
    assert found == [f"p{number}" for number in range(7)]


def test_an_index_of_keys_holds_keys(tried: Tried) -> None:
    put(tried, item(g={"S": "G"}, v={"S": "x"}))
    assert by_index(tried, "keys")["Items"] == [item(g={"S": "G"})]


def test_an_index_is_not_read_consistently_and_must_exist(tried: Tried) -> None:
    assert by_index(tried, "by_g", ConsistentRead=True) == "ValidationException"
    assert by_index(tried, "other") == "ValidationException"


@pytest.mark.parametrize(
    "condition", ["sk = :x", "pk > :p", "pk = :p AND v = :x", "pk = :p OR sk = :x", "sk = :p"]
)
def test_key_conditions_that_are_none(tried: Tried, condition: str) -> None:
    assert query(tried, condition) == "ValidationException"


def test_a_scan_goes_page_by_page_and_in_segments(tried: Tried) -> None:
    put(tried, *(item(f"p{number}", sk) for number in range(9) for sk in range(3)))
    found: list[str] = []
    for segment in range(3):
        start: dict[str, Any] = {}
        while True:
            answer = tried("Scan", Limit=4, Segment=segment, TotalSegments=3, **start)
            found += [one["pk"]["S"] + one["sk"]["N"] for one in answer["Items"]]
            if "LastEvaluatedKey" not in answer:
                break
            start = {"ExclusiveStartKey": answer["LastEvaluatedKey"]}
    assert sorted(found) == sorted(f"p{number}{sk}" for number in range(9) for sk in range(3))


def test_batches_read_and_write_up_to_their_limits(tried: Tried) -> None:
    writes = [{"PutRequest": {"Item": item(sk=number)}} for number in range(25)]
    assert tried("BatchWriteItem", RequestItems={NAME: writes}) == {"UnprocessedItems": {}}
    keys = [key(sk=number) for number in range(30)]
    answer = tried("BatchGetItem", RequestItems={NAME: {"Keys": keys}})
    assert len(answer["Responses"][NAME]) == 25
    many = [{"PutRequest": {"Item": item(sk=number)}} for number in range(26)]
    assert tried("BatchWriteItem", RequestItems={NAME: many}) == "ValidationException"
    twice = [{"DeleteRequest": {"Key": key()}}] * 2
    assert tried("BatchWriteItem", RequestItems={NAME: twice}) == "ValidationException"
    assert tried("BatchGetItem", RequestItems={NAME: {"Keys": [key()] * 2}}) == (
        "ValidationException"
    )
    keys = [key(sk=number) for number in range(101)]
    assert tried("BatchGetItem", RequestItems={NAME: {"Keys": keys}}) == "ValidationException"


def test_a_batch_of_more_than_16_mib_is_answered_in_part(tried: Tried) -> None:
    put(tried, *(item(sk=number, v={"S": "x" * 399_000}) for number in range(45)))
    keys = [key(sk=number) for number in range(45)]
    answer = tried("BatchGetItem", RequestItems={NAME: {"Keys": keys, "ConsistentRead": True}})
    left = answer["UnprocessedKeys"][NAME]
    assert len(answer["Responses"][NAME]) + len(left["Keys"]) == 45
    assert left["ConsistentRead"] is True


def put_part(sk: int, **more: Any) -> dict[str, Any]:
    return {"Put": {"TableName": NAME, "Item": item(sk=sk), **more}}


def test_a_transaction_writes_all_or_nothing(tried: Tried) -> None:
    put(tried, item(sk=9, n={"N": "1"}))
    parts: list[dict[str, Any]] = [
        put_part(1),
        {
            "Update": {
                "TableName": NAME,
                "Key": key(sk=9),
                "UpdateExpression": "ADD n :v",
                "ExpressionAttributeValues": {":v": {"N": "1"}},
            }
        },
        {
            "ConditionCheck": {
                "TableName": NAME,
                "Key": key(sk=5),
                "ConditionExpression": "attribute_not_exists(pk)",
            }
        },
        {"Delete": {"TableName": NAME, "Key": key(sk=4)}},
    ]
    assert tried("TransactWriteItems", TransactItems=parts) == {}
    assert stored(tried, sk=9)["n"] == {"N": "2"}
    put(tried, item(sk=5))
    assert tried("TransactWriteItems", TransactItems=parts) == "TransactionCanceledException"
    assert stored(tried, sk=9)["n"] == {"N": "2"}


def test_a_cancelled_transaction_gives_a_reason_for_each_part() -> None:
    made = engine()
    made.put_item({"TableName": NAME, "Item": item(sk=2, v={"S": "old"})})
    absent = {
        "ConditionExpression": "attribute_not_exists(pk)",
        "ReturnValuesOnConditionCheckFailure": "ALL_OLD",
    }
    wrong = {"Update": {"TableName": NAME, "Key": key(sk=3), "UpdateExpression": "SET v = nothing"}}
    with pytest.raises(Cancelled) as caught:
        made.transact_write_items(
            {"TransactItems": [put_part(1, **absent), put_part(2, **absent), wrong]}
        )
    reasons: Any = caught.value.more["CancellationReasons"]
    assert [one["Code"] for one in reasons] == ["None", "ConditionalCheckFailed", "ValidationError"]
    assert reasons[1]["Item"] == item(sk=2, v={"S": "old"})


@pytest.mark.parametrize(
    "parts",
    [
        [],
        [put_part(number) for number in range(101)],
        [put_part(1), put_part(1)],
        [{**put_part(1), "Delete": {"TableName": NAME, "Key": key()}}],
        [
            {"Put": {"TableName": NAME, "Item": item(sk=number, v={"S": "x" * 390_000})}}
            for number in range(11)
        ],
    ],
    ids=["none", "101", "twice", "two in one", "over 4 MB"],
)
def test_transactions_that_are_refused(tried: Tried, parts: list[dict[str, Any]]) -> None:
    assert tried("TransactWriteItems", TransactItems=parts) == "ValidationException"


def test_a_transaction_reads_together(tried: Tried) -> None:
    put(tried, item())
    parts = [{"Get": {"TableName": NAME, "Key": key(sk=sk)}} for sk in (1, 2)]
    assert tried("TransactGetItems", TransactItems=parts) == {"Responses": [{"Item": item()}, {}]}


def test_of_many_who_write_first_one_wins() -> None:
    made = engine()
    won: list[int] = []

    def race(number: int, turn: int) -> None:
        request = {
            "TransactItems": [
                put_part(turn, ConditionExpression="attribute_not_exists(pk)"),
                {"Put": {"TableName": NAME, "Item": item(f"by{number}", turn)}},
            ]
        }
        try:
            made.transact_write_items(request)
        except Refusal:
            return
        won.append(turn)

    for turn in range(40):
        threads = [threading.Thread(target=race, args=(number, turn)) for number in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    assert sorted(won) == list(range(40))


def test_capacity_is_counted_by_size_if_asked(tried: Tried) -> None:
    put(tried, item(v={"S": "x" * 9000}))
    read = tried("GetItem", Key=key(), ConsistentRead=True, ReturnConsumedCapacity="TOTAL")
    assert read["ConsumedCapacity"] == {"TableName": NAME, "CapacityUnits": 3}
    written = tried("PutItem", Item=item(), ReturnConsumedCapacity="TOTAL")
    assert written["ConsumedCapacity"]["CapacityUnits"] == 9


def test_the_answer_is_refused_for_a_limit_of_nothing(tried: Tried) -> None:
    with pytest.raises(Invalid):
        tried.engine.scan({"TableName": NAME, "Limit": 0})


@pytest.mark.parametrize(
    ("mine", "other", "same"),
    [
        ({"N": "1.0"}, {"N": "1"}, True),
        ({"SS": ["a", "b"]}, {"SS": ["b", "a"]}, True),
        ({"NS": ["1", "2"]}, {"NS": ["2", "1.0"]}, True),
        ({"BS": [b"a"]}, {"BS": [b"b"]}, False),
        ({"L": [{"N": "1"}]}, {"L": [{"N": "1.0"}]}, True),
        ({"L": [{"N": "1"}]}, {"L": []}, False),
        ({"M": {"x": {"S": "1"}}}, {"M": {"x": {"S": "1"}}}, True),
        ({"M": {"x": {"S": "1"}}}, {"M": {}}, False),
        ({"BOOL": True}, {"BOOL": True}, True),
        ({"S": "1"}, {"N": "1"}, False),
    ],
)
def test_equality(tried: Tried, mine: dict[str, Any], other: dict[str, Any], same: bool) -> None:
    put(tried, item(v=mine))
    answer = tried(
        "DeleteItem",
        Key=key(),
        ConditionExpression="v = :v",
        ExpressionAttributeValues={":v": other},
    )
    assert answer == ({} if same else "ConditionalCheckFailedException")


@pytest.mark.parametrize(
    ("member", "inside"), [({"S": "a"}, True), ({"S": "c"}, False), ({"N": "1"}, False)]
)
def test_a_set_contains_its_members(tried: Tried, member: dict[str, Any], inside: bool) -> None:
    put(tried, item(v={"SS": ["a", "b"]}))
    answer = tried(
        "DeleteItem",
        Key=key(),
        ConditionExpression="contains(v, :v)",
        ExpressionAttributeValues={":v": member},
    )
    assert answer == ({} if inside else "ConditionalCheckFailedException")


def test_texts_are_ordered_by_their_utf_8_bytes_and_found_by_their_beginning(tried: Tried) -> None:
    texts = ["a", "ab", "abc", "b", "z", "\u00fc", "\uffff", "\U0001f6a6"]
    put(tried, *(item(f"p{n}", g={"S": "G"}, h={"S": text}) for n, text in enumerate(texts)))
    answer = by_index(tried, "by_g")
    assert [one["h"]["S"] for one in answer["Items"]] == texts
    found = tried(
        "Query",
        IndexName="by_g",
        KeyConditionExpression="g = :g AND begins_with(h, :h)",
        ExpressionAttributeValues={":g": {"S": "G"}, ":h": {"S": "ab"}},
    )
    assert [one["h"]["S"] for one in found["Items"]] == ["ab", "abc"]


@pytest.mark.parametrize("update", ["", "SET", "SET v", "SET v = ", "REMOVE v[x]", "SET v = :v,"])
def test_updates_that_are_none(tried: Tried, update: str) -> None:
    answer = tried(
        "UpdateItem",
        Key=key(),
        UpdateExpression=update,
        ExpressionAttributeValues={":v": {"S": "x"}},
    )
    assert answer == "ValidationException"


def test_a_long_expression_is_refused(tried: Tried) -> None:
    long = " OR ".join(["attribute_exists(pk)"] * 200)
    assert tried("DeleteItem", Key=key(), ConditionExpression=long) == "ValidationException"
