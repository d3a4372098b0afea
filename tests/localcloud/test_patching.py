"""Repairs reach moto while a cloud runs, and only then."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest

from localcloud.patching import Mended, Repair, applied
from localcloud.stepfunctions import install
from localcloud.stepfunctions.repairs import ALL


class Base:
    def said(self) -> str:
        return "base"


class Owner(Base):
    kept = "kept"


def test_a_repair_is_undone_even_where_the_attribute_was_inherited() -> None:
    repairs = [Repair(Owner, "kept", "new"), Repair(Owner, "said", lambda self: "new")]
    with applied(repairs):
        assert (Owner.kept, Owner().said()) == ("new", "new")
    assert (Owner.kept, Owner().said()) == ("kept", "base")
    assert "said" not in vars(Owner)


def test_a_repair_of_what_moto_does_not_have_is_an_error() -> None:
    with pytest.raises(AttributeError, match=r"Owner\.nothing"):
        Mended().add(Owner, "nothing", None)


def test_every_repair_says_what_aws_does() -> None:
    for repair in ALL:
        said = getattr(repair.replacement, "__doc__", None)
        assert said, repair.name


def test_another_moto_is_refused_with_a_remedy(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(install, "MOTO", "0.0.0")
    with pytest.raises(install.WrongMoto, match=r"requirements/dev\.txt"):
        install.check_moto()


SPARED = """
import sys
import localcloud.cloud
assert "moto.ec2" not in sys.modules and "moto.batch" not in sys.modules
from moto.batch.utils import make_arn_for_job
assert "moto.ec2" in sys.modules
"""


def test_a_cloud_starts_without_moto_s_ec2_and_leaves_it_to_others() -> None:
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    subprocess.run([sys.executable, "-c", SPARED], env=environment, check=True, timeout=60)


def test_the_package_itself_is_light() -> None:
    light = "import sys, localcloud.clients, localcloud.discovery; assert 'moto' not in sys.modules"
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    subprocess.run([sys.executable, "-c", light], env=environment, check=True, timeout=60)
