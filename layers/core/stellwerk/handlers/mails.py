"""A mail, as triggers and nodes hand it on; and which mail is meant."""

from __future__ import annotations

from pydantic import Field

from stellwerk.handlers.declare import Parameters, Result
from stellwerk.triggers.mail.model import MailFilter


class MailParameters(Parameters):
    """Parameters of whatever watches a mailbox."""

    connection: str = Field(
        min_length=1,
        max_length=64,
        description="The connection to a mailbox, by its id",
        examples=["01kb2c3d4e5f6g7h8j9k0m1n2p"],
        json_schema_extra={"x-resource": "connection"},
    )
    folder: str = Field(
        default="INBOX",
        min_length=1,
        max_length=200,
        description="The folder that is watched",
        examples=["INBOX"],
    )
    sender: str = Field(
        default="",
        max_length=320,
        description="Part of the sender's address or name; capitals do not count",
        examples=["@muster.example"],
    )
    subject: str = Field(
        default="",
        max_length=400,
        description="Part of the subject; capitals do not count",
        examples=["invoice"],
    )
    attachment: str = Field(
        default="",
        max_length=200,
        description="A pattern that the name of an attachment fits; empty: with or without any",
        examples=["*.pdf"],
    )

    @property
    def filter(self) -> MailFilter:
        """For which mail it watches."""
        return MailFilter(sender=self.sender, subject=self.subject, attachment=self.attachment)


class AttachedFile(Result):
    """An attachment, kept as a file of the instance."""

    name: str = Field(default="", description="Its name", examples=["Rechnung 4711.pdf"])
    type: str = Field(default="", description="Its media type", examples=["application/pdf"])
    size: int = Field(default=0, description="Bytes", examples=[48213])
    file: str | None = Field(
        default=None,
        description="The id of the file; null if it could not be kept",
        examples=["01kb2c3d4e5f6g7h8j9k0m1n2p"],
    )
    problem: str = Field(default="", description="Why it could not be kept", examples=[""])


class MailValue(Result):
    """A mail."""

    id: str = Field(
        default="",
        description="The id that its sender gave it",
        examples=["<4711@muster.example>"],
    )
    received: str = Field(
        default="", description="When, in UTC", examples=["2026-12-01T08:15:00.000Z"]
    )
    sender: str = Field(default="", description="Address", examples=["anna@muster.example"])
    sender_name: str = Field(default="", description="Name", examples=["Anna Muster"])
    to: list[str] = Field(
        default_factory=list, description="Addresses", examples=[["office@example.com"]]
    )
    cc: list[str] = Field(default_factory=list, description="Addresses", examples=[[]])
    subject: str = Field(default="", description="Subject", examples=["Invoice 4711"])
    text: str = Field(
        default="", description="The text, without formatting", examples=["Please pay by Friday."]
    )
    html: str = Field(default="", description="The text as HTML, if it has one", examples=[""])
    attachments: list[AttachedFile] = Field(
        default_factory=list,
        description="Attachments, the first 20",
        examples=[[{"name": "Rechnung 4711.pdf", "type": "application/pdf", "size": 48213}]],
    )
