"""Whoever is signed in."""

from __future__ import annotations

from typing import Literal

from pydantic import ConfigDict, Field

from api.models.base import Body, Label, Shown
from stellwerk.tenancy import me, model

Language = Literal["de", "en"]


class User(Shown):
    """A person, or a machine."""

    id: str
    kind: Literal["person", "machine"]
    name: str
    email: str
    language: Language

    @classmethod
    def of(cls, user: model.User) -> User:
        """Show a user to itself."""
        return cls(
            id=user.id,
            kind=user.kind,
            name=user.name,
            email=user.email,
            language=user.language,
        )


class Seen(Shown):
    """What you see at a place."""

    roles: list[str] = Field(description="Labels of your roles")
    ui: list[str] = Field(
        description="Pages and buttons", examples=[["ui.feature.graphicalEditor.editor"]]
    )
    operations: list[str] = Field(
        description="What you may do", examples=[["resource.feature.graphicalEditor.publish"]]
    )

    @classmethod
    def of(cls, seen: me.Seen) -> Seen:
        """Show what someone sees."""
        return cls(roles=list(seen.roles), ui=list(seen.ui), operations=list(seen.operations))


class SeenInstance(Seen):
    """An instance, as you see it."""

    id: str
    label: str
    feature: str
    icon: str


class SeenMandate(Seen):
    """A mandate, as you see it, with the instances where you may come in."""

    id: str
    label: str
    instances: list[SeenInstance]


class Me(Shown):
    """You, and everywhere you belong: what navigation and buttons are made of."""

    model_config = ConfigDict(
        json_schema_extra={
            "example": {
                "user": {
                    "id": "u-demo",
                    "kind": "person",
                    "name": "Anna Muster",
                    "email": "anna@muster.example",
                    "language": "de",
                },
                "platform": {"roles": [], "ui": [], "operations": []},
                "mandates": [
                    {
                        "id": "m-demo",
                        "label": "Muster AG",
                        "roles": ["admin"],
                        "ui": ["ui.feature.administration.members"],
                        "operations": [],
                        "instances": [
                            {
                                "id": "i-demo",
                                "label": "Editor",
                                "feature": "graphicalEditor",
                                "icon": "sitemap",
                                "roles": ["graphicalEditor-admin"],
                                "ui": ["ui.feature.graphicalEditor.editor"],
                                "operations": ["resource.feature.graphicalEditor.publish"],
                            }
                        ],
                    }
                ],
            }
        }
    )

    user: User
    platform: Seen = Field(description="What global roles let you see outside of all mandates")
    mandates: list[SeenMandate]

    @classmethod
    def of(cls, found: me.Me) -> Me:
        """Show someone to itself."""
        return cls(
            user=User.of(found.user),
            platform=Seen.of(found.platform),
            mandates=[_mandate(one) for one in found.mandates],
        )


class MeChanges(Body):
    """What you may change about yourself; what is not given stays as it is."""

    model_config = ConfigDict(json_schema_extra={"example": {"language": "en"}})

    name: Label | None = None
    language: Language | None = None


def _mandate(seen: me.MandateSeen) -> SeenMandate:
    return SeenMandate(
        **dict(Seen.of(seen.seen)),
        id=seen.mandate.id,
        label=seen.mandate.label,
        instances=[
            SeenInstance(
                **dict(Seen.of(one.seen)),
                id=one.instance.id,
                label=one.instance.label,
                feature=one.feature.code,
                icon=one.feature.icon,
            )
            for one in seen.instances
        ],
    )
