"""Puts the repaired Step Functions in moto's place, for as long as a cloud runs."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from importlib.metadata import version

from moto.core.base_backend import BackendDict
from moto.stepfunctions.parser import models

from localcloud.patching import Repair, applied
from localcloud.stepfunctions.backend import LocalStepFunctions
from localcloud.stepfunctions.repairs import ALL

MOTO = "5.2.5"
"""The version that the repairs were written against."""


class WrongMoto(RuntimeError):
    """The repairs do not fit the moto that is installed."""


def check_moto() -> None:
    """Raise WrongMoto unless the pinned moto is installed."""
    found = version("moto")
    if found != MOTO:
        raise WrongMoto(
            f"the local cloud repairs moto {MOTO}, but {found} is installed: install "
            "requirements/dev.txt, or read each repair in localcloud/stepfunctions/repairs again, "
            "run tests/localcloud, and then change MOTO here"
        )


@contextmanager
def installed(account: str, region: str) -> Iterator[LocalStepFunctions]:
    """Repair moto while the block runs; yields the backend that answers its API."""
    check_moto()
    backends = BackendDict(LocalStepFunctions, "stepfunctions")
    replaced = Repair(models, "stepfunctions_parser_backends", backends)
    with applied([*ALL, replaced]):
        yield backends[account][region]
