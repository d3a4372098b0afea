"""What a feature says about itself: its containers in `stellwerk.features` declare these."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Protocol

from pydantic import BaseModel, ConfigDict, Field

from stellwerk.tenancy.access import GENERIC, AccessRule, Context
from stellwerk.tenancy.model import Text


class UiObject(BaseModel):
    """A page or button that roles may show: `ui.feature.graphicalEditor.editor`."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    item: str
    label: Text


class ResourceObject(BaseModel):
    """An operation that roles may allow: `resource.feature.graphicalEditor.publish`."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    item: str
    label: Text


class TemplateRole(BaseModel):
    """A role that is copied with its rules into each new instance of the feature."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    label: str
    description: str
    rules: tuple[AccessRule, ...]


class Chat(BaseModel):
    """What the assistant of this feature's chat may use at once, and what it may ask for."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    toolboxes: tuple[str, ...] = ()
    requestable: tuple[str, ...] = ()


class Feature(BaseModel):
    """A feature: declared once, instantiated in mandates any number of times."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    code: str = Field(pattern=r"^[a-z][a-zA-Z0-9]{1,39}$")
    label: Text
    icon: str
    tables: tuple[str, ...] = ()
    """The DATA items of the feature, without `data.feature.<code>.`."""
    ui: tuple[UiObject, ...] = ()
    resources: tuple[ResourceObject, ...] = ()
    roles: tuple[TemplateRole, ...] = ()
    services: tuple[str, ...] = ()
    """What the feature needs of `bootstrap.Services`, by attribute."""
    chat: Chat = Chat()
    instantiable: bool = True
    """Whether mandates hold instances of it; the administration is there once in each by itself."""

    def items(self, context: Context) -> frozenset[str]:
        """Return all items of the feature about which there can be rules."""
        if context is Context.UI:
            return frozenset(one.item for one in self.ui)
        if context is Context.RESOURCE:
            return frozenset(one.item for one in self.resources)
        return frozenset(f"data.feature.{self.code}.{table}" for table in self.tables)


class Features(Protocol):
    """The features of this installation."""

    def all(self) -> Mapping[str, Feature]:
        """Return them by code."""


def rule_faults(rules: Iterable[AccessRule], features: Iterable[Feature]) -> list[str]:
    """Return what is wrong with the items of rules: each must be able to match something.

    An exact item must be declared by one of the features; a prefix must begin some, or be about all
    that a feature has or may have.
    """
    known = list(features)
    return [
        f"{rule.context} rule {number} is about '{rule.item}', which nothing here is called or "
        "begins with"
        for number, rule in enumerate(rules, start=1)
        if rule.item != GENERIC and not any(_fits(rule, feature) for feature in known)
    ]


def _fits(rule: AccessRule, feature: Feature) -> bool:
    if rule.item == f"{rule.context.lower()}.feature.{feature.code}.*":
        return True
    return any(rule.specificity(item) is not None for item in feature.items(rule.context))
