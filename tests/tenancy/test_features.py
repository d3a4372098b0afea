from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from stellwerk.features.found import FaultyFeature, FoundFeatures
from stellwerk.tenancy.access import Context, Level, Verb
from stellwerk.tenancy.features import Feature
from stellwerk.tenancy.scope import NO_INSTANCE
from tests.tenancy.world import FEATURES

CODES = [
    "administration",
    "automation",
    "chatbot",
    "commCoach",
    "graphicalEditor",
    "trustee",
    "workspace",
]
SOUND = """
from stellwerk.features.declaring import administrator, operations, pages
from stellwerk.tenancy.features import Feature
from stellwerk.tenancy.model import Text

UI = pages("{code}", home=("Start", "Home"))
FEATURE = Feature(
    code="{code}", label=Text(de="x", en="x"), icon="x", ui=UI, tables=("notes",),
    roles=(administrator("{code}", UI),), services=("paper",),
)
"""


@pytest.fixture
def package(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """The folder of an empty package `grounds`, found by import."""
    folder = tmp_path / "grounds"
    folder.mkdir()
    (folder / "__init__.py").write_text("")
    monkeypatch.syspath_prepend(tmp_path)
    yield folder
    for name in [name for name in sys.modules if name.partition(".")[0] == "grounds"]:
        del sys.modules[name]


def container(package: Path, code: str, text: str) -> None:
    (package / code).mkdir()
    (package / code / "__init__.py").write_text("")
    (package / code / "feature.py").write_text(text)


def test_the_product_s_features_are_found() -> None:
    assert list(FEATURES.all()) == CODES
    assert FEATURES.routes() == {}


@pytest.mark.parametrize("feature", FEATURES.all().values(), ids=CODES)
def test_a_feature_is_complete(feature: Feature) -> None:
    assert feature.ui
    assert feature.label.de
    assert feature.icon
    labels = [page.label for page in feature.ui] + [one.label for one in feature.resources]
    assert all(label.de and label.en for label in labels)
    if feature.instantiable:
        roles = [role.label for role in feature.roles]
        assert roles == [f"{feature.code}-{part}" for part in ("admin", "user", "viewer")]
        assert {"members", "roles"} <= set(feature.tables)


@pytest.mark.parametrize(
    "feature",
    [one for one in FEATURES.all().values() if one.instantiable],
    ids=lambda one: one.code,
)
def test_viewers_change_nothing_and_users_only_what_is_theirs(feature: Feature) -> None:
    admin, user, viewer = feature.roles
    changing = (Verb.UPDATE, Verb.DELETE)
    for rule in viewer.rules:
        assert rule.context is not Context.RESOURCE
        assert {rule.level(verb) for verb in (*changing, Verb.CREATE)} == {Level.NONE}
    for rule in user.rules:
        assert {rule.level(verb) for verb in changing} <= {Level.NONE, Level.MY}
    assert {rule.item for rule in admin.rules if rule.context is Context.UI} == {
        page.item for page in feature.ui
    }
    assert NO_INSTANCE not in {rule.item for rule in admin.rules}


def test_a_container_is_found_by_its_folder(package: Path) -> None:
    container(package, "garden", SOUND.format(code="garden"))
    (package / "garden" / "routes.py").write_text("")
    (package / "shed.py").write_text("FEATURE = None")
    found = FoundFeatures("grounds")
    assert list(found.all()) == ["garden"]
    assert found.routes() == {"garden": "grounds.garden.routes"}


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("FEATURE = 1", "no Feature"),
        ("NOTHING = 1", "FEATURE"),
        ("this is not Python", "cannot be loaded"),
        ("import nothing_there", "nothing_there"),
        (SOUND.format(code="yard"), "folder 'garden'"),
        (SOUND.format(code="garden").replace('("Start", "Home")', '("", 1)'), "cannot be loaded"),
        (SOUND.format(code="garden").replace('roles=(administrator("garden", UI),),', ""), "admin"),
        (SOUND.format(code="garden").replace('"notes",', '"notes", "notes"'), "declared twice"),
        (
            SOUND.format(code="garden").replace('UI = pages("garden"', 'UI = pages("yard"'),
            "does not begin with",
        ),
        (
            SOUND.format(code="garden").replace(
                'administrator("garden", UI)', 'administrator("yard", UI)'
            ),
            "nothing here is called",
        ),
    ],
)
def test_a_faulty_container_is_told_by_name_and_fault(package: Path, text: str, told: str) -> None:
    container(package, "garden", text)
    with pytest.raises(FaultyFeature, match="garden") as raised:
        FoundFeatures("grounds").all()
    assert told in raised.value.message


def test_a_feature_tells_which_services_it_misses(package: Path) -> None:
    class Services:
        paper = "some"

    container(package, "garden", SOUND.format(code="garden"))
    found = FoundFeatures("grounds")
    found.check(Services())
    with pytest.raises(FaultyFeature, match="paper"):
        found.check(object())
