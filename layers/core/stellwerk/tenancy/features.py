"""What a feature says about itself: its containers in `stellwerk.features` declare these."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Protocol

from pydantic import BaseModel, ConfigDict, Field

from stellwerk.tenancy.access import AccessRule
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


class Features(Protocol):
    """The features of this installation."""

    def all(self) -> Mapping[str, Feature]:
        """Return them by code."""
