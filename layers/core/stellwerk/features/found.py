"""Finds the features: the containers below a package, each checked before anything starts."""

from __future__ import annotations

import pkgutil
from collections import Counter
from collections.abc import Iterator, Mapping
from functools import cached_property
from importlib import import_module
from importlib.util import find_spec

from stellwerk.kernel.errors import PermanentError
from stellwerk.tenancy.access import Context
from stellwerk.tenancy.features import Feature, rule_faults

HERE = __name__.rpartition(".")[0]


class FaultyFeature(PermanentError):
    """A container does not declare a feature as it must: its developer must act."""


class FoundFeatures:
    """The features whose containers lie in a package, found when first asked for."""

    def __init__(self, package: str = HERE) -> None:
        self._package = package

    def all(self) -> Mapping[str, Feature]:
        """Return the features by code. Raises FaultyFeature with all that is wrong with one."""
        return self._all

    def routes(self) -> Mapping[str, str]:
        """Return the modules that hold a feature's routes, by code; few have any."""
        named = {code: f"{self._package}.{code}.routes" for code in self._all}
        return {code: module for code, module in named.items() if find_spec(module)}

    def check(self, services: object) -> None:
        """Raise FaultyFeature if a feature needs a service that the process does not have."""
        for code, feature in self._all.items():
            missing = [name for name in feature.services if not hasattr(services, name)]
            if missing:
                raise FaultyFeature(f"feature '{code}' needs services that are missing: {missing}")

    @cached_property
    def _all(self) -> dict[str, Feature]:
        package = import_module(self._package)
        containers = [found.name for found in pkgutil.iter_modules(package.__path__) if found.ispkg]
        return {folder: self._load(folder) for folder in sorted(containers)}

    def _load(self, folder: str) -> Feature:
        try:
            feature = import_module(f"{self._package}.{folder}.feature").FEATURE
        except Exception as error:
            raise FaultyFeature(f"feature '{folder}' cannot be loaded: {error}") from error
        if not isinstance(feature, Feature):
            raise FaultyFeature(f"feature '{folder}': FEATURE is no Feature but {feature!r}")
        faults = list(_faults(feature, folder))
        if faults:
            raise FaultyFeature(
                f"feature '{folder}': {'; '.join(faults)}",
                remedy=f"Correct {self._package}.{folder}.feature.",
            )
        return feature


def _faults(feature: Feature, folder: str) -> Iterator[str]:
    code = feature.code
    if code != folder:
        yield f"its code is '{code}', but its folder '{folder}'"
    for kind, context in (("ui", Context.UI), ("resource", Context.RESOURCE)):
        for item in sorted(feature.items(context)):
            if not item.startswith(f"{kind}.feature.{code}."):
                yield f"'{item}' does not begin with '{kind}.feature.{code}.'"
    named = [page.item for page in feature.ui] + [one.item for one in feature.resources]
    named += [*feature.tables, *(role.label for role in feature.roles)]
    for name, times in Counter(named).items():
        if times > 1:
            yield f"'{name}' is declared twice"
    yield from _role_faults(feature)


def _role_faults(feature: Feature) -> Iterator[str]:
    labels = {role.label for role in feature.roles}
    if feature.instantiable and f"{feature.code}-admin" not in labels:
        yield f"it has no template role '{feature.code}-admin'"
    for role in feature.roles:
        if not role.label.startswith(f"{feature.code}-"):
            yield f"template role '{role.label}' does not begin with '{feature.code}-'"
        for fault in rule_faults(role.rules, [feature]):
            yield f"template role '{role.label}': {fault}"
