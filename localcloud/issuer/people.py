"""Who can sign in."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from localcloud.seeding.people import COMPANIES, ROOT


@dataclass(frozen=True)
class Person:
    """Someone to choose; `subject` is what tokens say."""

    subject: str
    name: str
    email: str
    part: str
    """What the person is where it works: a word of `pages.PARTS`."""

    @property
    def initials(self) -> str:
        """The first letters of the first and the last name."""
        names = self.name.split()
        return "".join(name[0] for name in (names[0], names[-1])[: len(names)]).upper()


@dataclass(frozen=True)
class Company:
    """People who work together; without a label, those who belong to no company."""

    label: str
    people: tuple[Person, ...]


class People:
    """All who can sign in, by company."""

    def __init__(self, companies: Sequence[Company]) -> None:
        self.companies = companies
        self._by_subject: Mapping[str, Person] = {
            person.subject: person for company in companies for person in company.people
        }

    def find(self, subject: str) -> Person | None:
        """Return the person of a subject."""
        return self._by_subject.get(subject)


def seeded() -> People:
    """Return those who are seeded into a fresh local cloud."""
    companies = [
        Company(
            company.label,
            tuple(
                Person(str(each.id), each.name, each.email, each.part) for each in company.people
            ),
        )
        for company in COMPANIES
    ]
    root = Person(str(ROOT.id), ROOT.name, ROOT.email, ROOT.part)
    return People([*companies, Company("", (root,))])
