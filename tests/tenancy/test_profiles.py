from __future__ import annotations

import pytest

from stellwerk.kernel.errors import BadInput, Conflict
from stellwerk.tenancy.profiles import ProfileService
from stellwerk.tenancy.scope import SYSTEM
from tests.tenancy.world import BEN, World


def test_everybody_changes_himself(world: World) -> None:
    profiles = ProfileService(world.directory, audit=world.audit)
    changed = profiles.update(world.platform(BEN), 1, name=" Benno ", language="en")
    assert (changed.id, changed.name, changed.language) == (BEN, "Benno", "en")
    assert profiles.update(world.platform(BEN), 2).name == "Benno"
    assert world.signing.user(world.claims(BEN)).language == "en"
    assert world.acts(SYSTEM) == ["user.update begun", "user.update done"] * 2


def test_a_profile_is_changed_on_its_revision(world: World) -> None:
    profiles = ProfileService(world.directory, audit=world.audit)
    with pytest.raises(Conflict):
        profiles.update(world.platform(BEN), 3, name="Benno")
    with pytest.raises(BadInput):
        profiles.update(world.platform(BEN), 1, name="")
    assert world.signing.user(world.claims(BEN)).revision == 1
