"""Files."""

from __future__ import annotations

from datetime import datetime

from pydantic import ConfigDict, Field

from api.models.base import PageOf, Shown
from stellwerk.files import model as stored


class File(Shown):
    """A file of the instance; its content is found below it."""

    model_config = ConfigDict(
        json_schema_extra={
            "example": {
                "id": "01kb2c3d4e5f6g7h8j9k0m1n2p",
                "name": "Rechnung 4711.pdf",
                "type": "application/pdf",
                "size": 48213,
                "sha256": "9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08",
                "created_by": "u-demo-user",
                "created": "2026-12-01T08:15:00Z",
            }
        }
    )

    id: str
    name: str
    type: str = Field(description="The media type that whoever uploaded it gave")
    size: int = Field(description="Bytes")
    sha256: str = Field(description="SHA-256 of the content, in hexadecimal")
    created_by: str
    created: datetime

    @classmethod
    def of(cls, file: stored.File) -> File:
        """Show a file."""
        return cls(
            id=file.id,
            name=file.name,
            type=file.type,
            size=file.size,
            sha256=file.sha256,
            created_by=file.created_by,
            created=file.created,
        )


class FilePage(PageOf[File]):
    """A page of files, the newest first."""
