"""The two companies of a fresh local cloud, as data."""

from __future__ import annotations

from dataclasses import dataclass

from stellwerk.kernel.ids import InstanceId, MandateId, UserId
from stellwerk.tenancy.scope import SEEDED_INSTANCE, SEEDED_MANDATE, SEEDED_USER

OUTSIDER = "outsider"
"""The part of someone who belongs to the company and to none of its instances."""


@dataclass(frozen=True)
class Person:
    """Someone with a part in a company: admin, user, viewer or outsider.

    Is a user under the id, and signs in with that id as subject.
    """

    id: UserId
    name: str
    email: str
    part: str
    desks: tuple[str, ...] = ()
    """Labels of further roles, to which workflows of the samples give their tasks."""


@dataclass(frozen=True)
class Company:
    """A mandate with its instances (feature by id) and people."""

    id: MandateId
    label: str
    instances: dict[InstanceId, tuple[str, str]]
    """Code of the feature and label."""
    people: tuple[Person, ...]


ROOT = Person(UserId("u-root"), "Regula Wartung", "root@stellwerk.example", "system-admin")
MUSTER = Company(
    SEEDED_MANDATE,
    "Muster AG",
    {
        SEEDED_INSTANCE: ("graphicalEditor", "Editor"),
        InstanceId("i-demo-auto"): ("automation", "Automation"),
    },
    (
        Person(
            SEEDED_USER,
            "Anna Muster",
            "anna@muster.example",
            "admin",
            ("facilities", "it", "sales-lead", "team-lead"),
        ),
        Person(
            UserId("u-demo-user"),
            "Ben Kurz",
            "ben@muster.example",
            "user",
            ("finance", "sales", "service"),
        ),
        Person(UserId("u-demo-viewer"), "Clara Lang", "clara@muster.example", "viewer"),
        Person(UserId("u-demo-outsider"), "David Weit", "david@muster.example", OUTSIDER),
    ),
)
NORDWIND = Company(
    MandateId("m-nord"),
    "Nordwind GmbH",
    {InstanceId("i-nord"): ("graphicalEditor", "Editor")},
    (
        Person(UserId("u-nord-admin"), "Nora Nord", "nora@nordwind.example", "admin"),
        Person(UserId("u-nord-user"), "Nils Küst", "nils@nordwind.example", "user", ("finance",)),
        Person(UserId("u-nord-viewer"), "Nele Watt", "nele@nordwind.example", "viewer"),
        Person(UserId("u-nord-outsider"), "Jan Düne", "jan@nordwind.example", OUTSIDER),
    ),
)
COMPANIES = (MUSTER, NORDWIND)
PEOPLE = (*MUSTER.people, *NORDWIND.people, ROOT)
"""All who can sign in, in the order in which the sign-in page shows them."""
