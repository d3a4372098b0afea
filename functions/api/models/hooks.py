"""Addresses of triggers, and what deliveries are answered with."""

from __future__ import annotations

from datetime import datetime
from typing import Annotated, Literal

from pydantic import ConfigDict, Field

from api.models.base import Body, Shown
from stellwerk.kernel.json import JsonObject, JsonValue
from stellwerk.triggers import hooks as stored

Status = Literal["running", "paused", "completed", "failed", "cancelled"]


class Delivered(Shown):
    """The run that a delivery has started, now or before."""

    run: str
    url: str = Field(description="Where the run is shown to who may see it")
    status: str
    result: JsonValue = None
    error: str | None = None


class FormShown(Shown):
    """A form, for programs that fill it in."""

    title: str
    description: str
    fields: JsonObject = Field(description="JSON Schema of what is asked for")
    access: Literal["public", "signed_in"]


class Hook(Shown):
    """The address of a trigger."""

    model_config = ConfigDict(
        json_schema_extra={
            "example": {
                "workflow": "01kb2c3d4e5f6g7h8j9k0m1n2a",
                "node": "order",
                "type": "trigger.webhook",
                "url": "https://api.example.com/hooks/8cQvJ0lSCkWqkLkKp0m1n2p3q4r5s6t7",
                "armed": True,
                "has_secret": False,
                "created": "2026-12-01T08:15:00Z",
                "rotated": None,
            }
        }
    )

    workflow: str
    node: str
    type: Literal["trigger.webhook", "trigger.form"]
    url: str = Field(description="Whoever knows it can deliver: it is a secret")
    armed: bool = Field(description="False while the workflow is not active or not published")
    has_secret: bool = Field(description="Whether callers can prove who they are")
    created: datetime
    rotated: datetime | None = Field(description="When it got this address in place of another")

    @classmethod
    def of(cls, hook: stored.Hook, *, base: str, has_secret: bool) -> Hook:
        """Show a hook, its address below `base`."""
        return cls(
            workflow=hook.workflow,
            node=hook.node,
            type="trigger.form" if hook.type == stored.FORM else "trigger.webhook",
            url=base.rstrip("/") + hook.path,
            armed=hook.armed,
            has_secret=has_secret,
            created=hook.created,
            rotated=hook.rotated,
        )


class Hooks(Shown):
    """All addresses of a workflow."""

    model_config = ConfigDict(json_schema_extra={"example": {"items": []}})

    items: list[Hook]


class HookSecret(Body):
    """What callers prove themselves with."""

    model_config = ConfigDict(json_schema_extra={"example": {"secret": "correct-horse-battery"}})

    secret: Annotated[str, Field(min_length=8, max_length=4096)] = Field(
        description="Never shown again"
    )
