from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

import pytest
from pydantic import BaseModel

from stellwerk.files.service import LARGEST, FileService, TooLarge
from stellwerk.kernel.errors import BadInput, Forbidden, NotFound
from stellwerk.kernel.ids import InstanceId, MandateId, RoleId, UserId
from stellwerk.tenancy.access import AccessRule, Context, Grant, Level, Principal, Priority
from stellwerk.tenancy.auditing import Act
from stellwerk.tenancy.scope import Scope, of_principal
from tests.fakes.clock import FixedClock
from tests.fakes.files import FakeFiles


class Notes:
    """Notes what is audited."""

    def __init__(self) -> None:
        self.noted: list[str] = []

    @contextmanager
    def act(self, scope: Scope, action: str, thing: str = "") -> Iterator[Act]:
        self.noted.append(action)
        yield self

    def denied(self, scope: Scope, action: str, thing: str, reason: str) -> None:
        self.noted.append(f"denied {action}")

    def before(self, thing: BaseModel | None) -> None:
        assert thing is not None

    def after(self, thing: BaseModel | None) -> None:
        assert thing is not None

    def object(self, name: str) -> None:
        assert name


def scope(user: str, level: Level) -> Scope:
    rule = AccessRule(
        context=Context.DATA,
        item="data.feature.graphicalEditor.files",
        read=level,
        create=level,
        delete=level,
    )
    grant = Grant(Priority.INSTANCE, RoleId("r"), "r", (rule,))
    principal = Principal(UserId(user), (grant,))
    return of_principal(
        principal, MandateId("m"), InstanceId("i"), feature="graphicalEditor", request="q"
    )


ANNA, BEN, BOSS = scope("anna", Level.MY), scope("ben", Level.MY), scope("boss", Level.INSTANCE)


@pytest.fixture
def audit() -> Notes:
    return Notes()


@pytest.fixture
def service(audit: Notes) -> FileService:
    return FileService(FakeFiles(), audit, FixedClock())


def test_a_file_is_kept_with_its_hash_and_audited(service: FileService, audit: Notes) -> None:
    added = service.add(ANNA, "C:\\Belege\\März.pdf", b"abc", type="application/PDF; x=1")
    assert (added.name, added.type, added.size) == ("März.pdf", "application/pdf", 3)
    assert added.sha256.startswith("ba7816bf")
    assert service.content(ANNA, added.id) == (added, b"abc")
    service.remove(ANNA, added.id)
    assert audit.noted == ["file.create", "file.delete"]


@pytest.mark.parametrize("name", ["", " ", "a/..", "x" * 201, "a\nb", "a\u202eb"])
def test_a_name_that_no_file_can_have_is_refused(service: FileService, name: str) -> None:
    with pytest.raises(BadInput, match="name"):
        service.add(ANNA, name, b"")


def test_a_media_type_is_one_or_unknown(service: FileService) -> None:
    assert service.add(ANNA, "a", b"").type == "application/octet-stream"
    with pytest.raises(BadInput, match="media type"):
        service.add(ANNA, "a", b"", type="nonsense\r\nx")


def test_a_file_beyond_the_limit_is_refused(service: FileService) -> None:
    with pytest.raises(TooLarge, match=str(LARGEST + 1)):
        service.add(ANNA, "a", b"x" * (LARGEST + 1))


def test_who_may_read_only_own_files_sees_no_others(service: FileService) -> None:
    mine = service.add(ANNA, "mine", b"")
    theirs = service.add(BEN, "theirs", b"")
    assert service.list(ANNA).items == [mine]
    assert {file.id for file in service.list(BOSS).items} == {mine.id, theirs.id}
    assert service.get(BOSS, theirs.id) == theirs
    for act in (service.get, service.content, service.remove):
        with pytest.raises(NotFound):
            act(ANNA, theirs.id)
    with pytest.raises(Forbidden):
        service.add(scope("eve", Level.NONE), "a", b"")
