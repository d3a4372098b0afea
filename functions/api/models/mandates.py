"""Mandates, features and their instances."""

from __future__ import annotations

from datetime import datetime
from typing import Annotated

from pydantic import ConfigDict, Field

from api.models.base import Body, Label, PageOf, Shown
from stellwerk.kernel.json import Flag, Whole
from stellwerk.tenancy import features, model
from stellwerk.tenancy.instances import Added


class Text(Shown):
    """A text in the languages of the product."""

    de: str
    en: str


class Mandate(Shown):
    """A tenant."""

    model_config = ConfigDict(
        json_schema_extra={
            "example": {
                "id": "m-demo",
                "label": "Muster AG",
                "active": True,
                "guests": False,
                "open_runs": 5000,
                "created_by": "u-root",
                "created": "2026-11-30T09:00:00Z",
                "etag": '"1"',
            }
        }
    )

    id: str
    label: str
    active: bool = Field(description="Nobody can come in and nothing starts where it is not")
    guests: bool = Field(description="Whether people without an account may decide, by a link")
    open_runs: int = Field(description="How many of its runs may be open at once; others wait")
    created_by: str
    created: datetime
    etag: str = Field(description="For If-Match, as in the header ETag")

    @classmethod
    def of(cls, mandate: model.Mandate) -> Mandate:
        """Show a mandate."""
        return cls(
            id=mandate.id,
            label=mandate.label,
            active=mandate.active,
            guests=mandate.guests,
            open_runs=mandate.open_runs,
            created_by=mandate.created_by,
            created=mandate.created,
            etag=f'"{mandate.revision}"',
        )


class MandatePage(PageOf[Mandate]):
    """A page of mandates."""


class NewMandate(Body):
    """A mandate to create."""

    model_config = ConfigDict(
        json_schema_extra={"example": {"label": "Beispiel GmbH", "admin": "eva@beispiel.example"}}
    )

    label: Annotated[Label, Field(max_length=120)]
    admin: Annotated[str, Field(min_length=1, max_length=254)] = Field(
        description="The first administrator: id of a user, or address of a person to invite"
    )


class PlaceChanges(Body):
    """What is not given stays as it is."""

    model_config = ConfigDict(json_schema_extra={"example": {"label": "Muster AG Zürich"}})

    label: Annotated[Label, Field(max_length=120)] | None = None
    active: Flag | None = None


class MandateChanges(PlaceChanges):
    """What is not given stays; `active` and `open_runs` only by who runs the installation."""

    guests: Flag | None = Field(
        default=None, description="Whether people without an account may decide, by a link"
    )
    open_runs: Whole | None = Field(
        default=None, ge=1, le=100_000, description="Its share: how many runs may be open at once"
    )


class Feature(Shown):
    """What can be instantiated in a mandate."""

    code: str
    label: Text
    icon: str
    instantiable: bool
    pages: dict[str, Text] = Field(description="Pages and buttons by item")
    operations: dict[str, Text] = Field(description="Operations by item")
    tables: list[str] = Field(description="DATA items")
    roles: list[str] = Field(description="Labels of the roles with which an instance begins")

    @classmethod
    def of(cls, feature: features.Feature) -> Feature:
        """Show a feature."""
        return cls(
            code=feature.code,
            label=_text(feature.label),
            icon=feature.icon,
            instantiable=feature.instantiable,
            pages={one.item: _text(one.label) for one in feature.ui},
            operations={one.item: _text(one.label) for one in feature.resources},
            tables=[f"data.feature.{feature.code}.{table}" for table in feature.tables],
            roles=[role.label for role in feature.roles],
        )


class Features(Shown):
    """All features, by code."""

    items: list[Feature]


class Instance(Shown):
    """A feature in use in a mandate."""

    model_config = ConfigDict(
        json_schema_extra={
            "example": {
                "id": "i-demo",
                "mandate": "m-demo",
                "feature": "graphicalEditor",
                "label": "Editor",
                "active": True,
                "created_by": "u-demo",
                "created": "2026-11-30T09:00:00Z",
                "etag": '"1"',
            }
        }
    )

    id: str
    mandate: str
    feature: str
    label: str
    active: bool
    created_by: str
    created: datetime
    etag: str = Field(description="For If-Match, as in the header ETag")

    @classmethod
    def of(cls, instance: model.FeatureInstance) -> Instance:
        """Show an instance."""
        return cls(
            id=instance.id,
            mandate=instance.mandate,
            feature=instance.feature,
            label=instance.label,
            active=instance.active,
            created_by=instance.created_by,
            created=instance.created,
            etag=f'"{instance.revision}"',
        )


class Instances(Shown):
    """The instances of a mandate where you may come in, by id."""

    items: list[Instance]


class NewInstance(Body):
    """An instance to create."""

    model_config = ConfigDict(
        json_schema_extra={"example": {"feature": "graphicalEditor", "label": "Einkauf"}}
    )

    feature: Annotated[str, Field(pattern=r"^[a-z][a-zA-Z0-9]{1,39}$")]
    label: Annotated[Label, Field(max_length=120)]


class AddedRule(Shown):
    """A page about which a role says something now."""

    role: str
    label: str
    item: str
    view: bool


class AddedRules(Shown):
    """What synchronising has added."""

    items: list[AddedRule]

    @classmethod
    def of(cls, added: list[Added]) -> AddedRules:
        """Show what was added."""
        return cls(
            items=[
                AddedRule(
                    role=one.role.id,
                    label=one.role.label,
                    item=one.rule.item,
                    view=one.rule.view,
                )
                for one in added
            ]
        )


def _text(text: model.Text) -> Text:
    return Text(de=text.de, en=text.en)
